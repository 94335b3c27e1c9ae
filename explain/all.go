package explain

import (
	"context"
	"sync"
)

// RunAll explains bundles, several at a time, each with the recorded hidden
// state and without. The result is in the order of the bundles, whatever the
// number of workers; so is the error, when several fail.
func RunAll(ctx context.Context, bundles []*Bundle, opts Options, workers int) (*Result, error) {
	result := &Result{Captures: make([]*Explained, len(bundles))}
	errs := make([]error, len(bundles))
	next := make(chan int)
	var group sync.WaitGroup
	for range max(1, min(workers, len(bundles))) {
		group.Go(func() {
			for i := range next {
				result.Captures[i], errs[i] = runTwice(ctx, bundles[i], opts)
				if opts.Explained != nil {
					opts.Explained()
				}
			}
		})
	}
	for i := range bundles {
		next <- i
	}
	close(next)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return result, nil
}

func runTwice(ctx context.Context, b *Bundle, opts Options) (*Explained, error) {
	c, err := Run(ctx, b, opts)
	if err != nil {
		return nil, err
	}
	e := &Explained{Capture: c}
	if opts.IgnoreHidden || c.Hidden.Flips.Decisions == 0 {
		return e, nil
	}
	opts.IgnoreHidden = true
	e.Plain, err = Run(ctx, b, opts)
	return e, err
}
