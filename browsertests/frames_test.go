package browsertests

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// largeRun records some five million events.
var largeRun = []string{"--machine", "2n24c2t", "hackbench", "-g", "12", "-l", "1400", "-P", "-p"}

// TestPanningOverMillionsOfEvents prints what a frame costs. How fast this
// computer is decides no test; that the frames show what they should does.
func TestPanningOverMillionsOfEvents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "large")
	run(t, append([]string{"run", "--trace", dir}, largeRun...)...)
	b := open(t)
	b.do(chromedp.Navigate(serve(t, dir) + "#/timeline?a=."))
	begun := time.Now()
	b.until(`document.querySelector("canvas") !== null`)
	t.Logf("read in %v: %s", time.Since(begun).Round(100*time.Millisecond), value[string](b, `document.querySelector(".status [role=status]").textContent`))
	b.settled()
	b.shoot("large")
	for _, zoom := range []struct {
		name string
		keys int
	}{{"half of it in view", 1}, {"1/64 in view", 5}, {"1/2048 in view", 5}} {
		for range zoom.keys {
			b.key("+")
		}
		b.settled()
		if n := pixels(b, 70, int(canvasTop(b))+45, 1000, 500); n < 10_000 {
			t.Errorf("%s: %d pixels are drawn, want some ten thousand", zoom.name, n)
		}
		from, _ := shown(b)
		costs := b.framesWhile(func() { pan(b, 240) })
		to, _ := shown(b)
		if from == to || len(costs) < 50 {
			t.Errorf("%s: panned from %v to %v in %d frames, want movement in 50 at least", zoom.name, from, to, len(costs))
			continue
		}
		cpu, wall := sorted(costs, cpuTime), sorted(costs, wallTime)
		t.Logf("%s: script and paint of %d frames: CPU time median %.1f ms, 95th percentile %.1f ms, longest %.1f ms; by the clock, other processes included, %.1f, %.1f, %.1f ms",
			zoom.name, len(costs), quantile(cpu, 0.5), quantile(cpu, 0.95), quantile(cpu, 1), quantile(wall, 0.5), quantile(wall, 0.95), quantile(wall, 1))
		b.shoot("large-" + zoom.name[:4])
	}
}

// cost is what a frame took, in ms: by the clock, and what its threads had a CPU
// for, which on a busy computer is the part that is the page's own.
type cost struct{ wall, cpu float64 }

func wallTime(c cost) float64 { return c.wall }
func cpuTime(c cost) float64  { return c.cpu }

func (c *cost) add(e *traceEvent) {
	c.wall += e.Dur / 1000
	c.cpu += e.Tdur / 1000
}

func sorted(costs []cost, of func(cost) float64) []float64 {
	var times []float64
	for _, c := range costs {
		times = append(times, of(c))
	}
	slices.Sort(times)
	return times
}

func quantile(sorted []float64, q float64) float64 { return sorted[int(q*float64(len(sorted)-1))] }

// pan drags the timeline to and fro, so many moves, some 9 pixels at a time.
func pan(b *browser, moves int) {
	b.t.Helper()
	y := canvasTop(b) + 300
	held := func(p *input.DispatchMouseEventParams) {
		p.Button, p.Buttons, p.ClickCount = input.MouseButtonLeft, 1, 1
	}
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, 1100, y, held))
	x := 1100.0
	for i := range moves {
		if i/100%2 == 0 {
			x -= 9
		} else {
			x += 9
		}
		b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, held))
	}
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x, y, held))
}

// traceEvent is what is needed of an event of Chromium's trace; times in us.
type traceEvent struct {
	Name string  `json:"name"`
	Ph   string  `json:"ph"`
	Ts   float64 `json:"ts"`
	Dur  float64 `json:"dur"`
	Tdur float64 `json:"tdur"` // of it, what the thread had a CPU for
	Pid  int     `json:"pid"`
	Tid  int     `json:"tid"`
	Args struct {
		Name string `json:"name"`
	} `json:"args"`
}

// framesWhile does something and returns what each frame cost meanwhile: all that
// the page's main thread did from one frame's start to the next (input, script,
// style, paint), and the raster work of other threads.
func (b *browser) framesWhile(act func()) []cost {
	b.t.Helper()
	return frameCosts(b.traceWhile(act))
}

func (b *browser) traceWhile(act func()) []traceEvent {
	b.t.Helper()
	var mutex sync.Mutex
	var events []traceEvent
	complete := make(chan struct{})
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	err := chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			mutex.Lock()
			defer mutex.Unlock()
			for _, raw := range ev.Value {
				var e traceEvent
				if json.Unmarshal(raw, &e) == nil {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(complete)
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
			IncludedCategories: []string{"devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"},
		}})
		return err
	}))
	act()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tracing.End, cdp.Empty{})
		return err
	}))
	<-complete
	mutex.Lock()
	defer mutex.Unlock()
	return events
}

// thread is a thread of one of Chromium's processes.
type thread struct{ pid, tid int }

func frameCosts(events []traceEvent) []cost {
	slices.SortFunc(events, func(x, y traceEvent) int { return int(x.Ts - y.Ts) })
	main, starts := frameStarts(events)
	costs := make([]cost, len(starts))
	var until float64 // end of the main thread's last task, which tasks nest in
	for _, e := range events {
		frame, found := slices.BinarySearch(starts, e.Ts)
		if !found {
			frame--
		}
		if e.Ph != "X" || frame < 0 {
			continue
		}
		switch {
		case e.Name == "RunTask" && (thread{e.Pid, e.Tid}) == main && e.Ts >= until:
			until = e.Ts + e.Dur
			costs[frame].add(&e)
		case e.Name == "RasterTask":
			costs[frame].add(&e)
		}
	}
	if len(costs) > 0 {
		costs = costs[:len(costs)-1] // the last one has no end
	}
	return costs
}

// frameStarts finds the thread that runs the page's script, and when the tasks
// begin in which it draws.
func frameStarts(events []traceEvent) (main thread, starts []float64) {
	for _, e := range events {
		if e.Name == "FireAnimationFrame" {
			main = thread{e.Pid, e.Tid}
			break
		}
	}
	task, until := 0.0, 0.0
	for _, e := range events {
		switch {
		case (thread{e.Pid, e.Tid}) != main:
		case e.Name == "RunTask" && e.Ts >= until:
			task, until = e.Ts, e.Ts+e.Dur
		case e.Name == "FireAnimationFrame" && (len(starts) == 0 || starts[len(starts)-1] != task):
			starts = append(starts, task)
		}
	}
	return main, starts
}
