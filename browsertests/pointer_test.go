package browsertests

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// canvasTop is where the canvas begins in the page.
func canvasTop(b *browser) float64 {
	b.t.Helper()
	return value[float64](b, `document.querySelector("canvas").getBoundingClientRect().y`)
}

// drag pulls the timeline from one point of the canvas to another.
func drag(b *browser, fromX, fromY, toX, toY float64) {
	b.t.Helper()
	top := canvasTop(b)
	held := func(p *input.DispatchMouseEventParams) {
		p.Button, p.Buttons, p.ClickCount = input.MouseButtonLeft, 1, 1
	}
	const parts = 4
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, fromX, top+fromY, held))
	for i := 1.0; i <= parts; i++ {
		b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, fromX+(toX-fromX)*i/parts, top+fromY+(toY-fromY)*i/parts, held))
	}
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, toX, top+toY, held))
}

// hover puts the pointer on a point of the canvas.
func hover(b *browser, x, y float64) {
	b.t.Helper()
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, canvasTop(b)+y))
}

// wheelParams are those of Input.dispatchMouseEvent that a wheel needs, zeros
// included, which the generated type leaves out.
type wheelParams struct {
	Type   string  `json:"type"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	DeltaX float64 `json:"deltaX"`
	DeltaY float64 `json:"deltaY"`
}

var dispatchWheel = cdp.Command[wheelParams, cdp.Empty]{Method: input.CommandDispatchMouseEvent}

// wheel turns the wheel over a point of the canvas.
func wheel(b *browser, x, y, delta float64) {
	b.t.Helper()
	top := canvasTop(b)
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, dispatchWheel, wheelParams{Type: "mouseWheel", X: x, Y: top + y, DeltaY: delta})
		return err
	}))
}
