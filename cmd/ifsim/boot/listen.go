package boot

import (
	"errors"
	"net"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/ifsim/ifsim/internal/metrics"
)

// errPublic is a permission for what there is not.
var errPublic = errors.New("--metrics-public without --metrics")

// listeners are what the machine serves; they are made before it boots, so that a place
// that is taken is told at once.
type listeners struct {
	control net.Listener
	metrics net.Listener // nil for none
}

// listen makes the listeners of a machine.
func (o Options) listen() (l listeners, err error) {
	if o.Metrics != "" {
		if l.metrics, err = metrics.Listen(o.Metrics, metrics.Reach(o.MetricsPublic)); err != nil {
			return l, err
		}
	} else if o.MetricsPublic {
		return l, errPublic
	}
	if l.control, err = ctl.Listen(o.Socket); err != nil {
		return l, errors.Join(err, l.close())
	}
	return l, nil
}

// close ends those that there are.
func (l listeners) close() error {
	var errs []error
	for _, ln := range []net.Listener{l.control, l.metrics} {
		if ln != nil {
			errs = append(errs, ln.Close())
		}
	}
	return errors.Join(errs...)
}
