package explain

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// RunAll explains bundles, several at a time, each with the recorded hidden
// state and without. The result is in the order of the bundles, whatever the
// number of workers.
func RunAll(ctx context.Context, bundles []*Bundle, opts Options, workers int) (*Result, error) {
	result := &Result{Captures: make([]*Explained, len(bundles))}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, workers))
	for i, b := range bundles {
		group.Go(func() error {
			explained, err := runTwice(ctx, b, opts)
			result.Captures[i] = explained
			return err
		})
	}
	return result, group.Wait()
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
