package hfsc

import (
	"fmt"

	"github.com/ifsim/ifsim/altq"
)

// checkPlace is what is wrong with a class of curves q below parent, nil for nothing. pfctl refuses the curves, and
// children of the default class, before the kernel sees them (spec altq 4.2); with the rest packets would wait
// forever, or FreeBSD would follow a nil pointer.
func checkPlace(q altq.QueueConfig, parent, fallback *class) error {
	for _, c := range []altq.Curve{q.RealTime, q.LinkShare, q.UpperLimit} {
		if err := checkCurve(c); err != nil {
			return err
		}
	}
	switch {
	case parent == nil:
		return nil
	case parent == fallback:
		return fmt.Errorf("the default queue would not be a leaf: %w", altq.ErrConfig)
	case q.RealTime.IsZero() && q.LinkShare.IsZero():
		return fmt.Errorf("neither a real-time nor a link-share curve: %w", altq.ErrConfig)
	case parent.parent != nil && parent.fsc == nil && !q.LinkShare.IsZero():
		return fmt.Errorf("the parent has no link-share curve: %w", altq.ErrConfig)
	}
	return nil
}

// checkCurve is what is wrong with a curve (validate_sc of pfctl): one must go on, and a convex one starts at 0.
func checkCurve(c altq.Curve) error {
	switch {
	case c.M1 > 0 && c.M2 == 0:
		return fmt.Errorf("m2 is zero for a curve with m1 %d: %w", c.M1, altq.ErrConfig)
	case c.M1 > 0 && c.M1 < c.M2:
		return fmt.Errorf("m1 %d of a convex curve must be zero: %w", c.M1, altq.ErrConfig)
	}
	return nil
}
