package pktgen8

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ifsim/ifsim/ifnet"
)

// How long an interface that moves nothing is waited for, and the time between looks. Of the
// host's clock: hardware is other goroutines.
const (
	stallTime = 5 * time.Second
	lookStep  = 200 * time.Microsecond
)

// awaitLink waits for the link of an interface that is up.
func (j *job) awaitLink(ctx context.Context) error {
	if j.ifp.Flags()&ifnet.FlagUp == 0 {
		return errors.New("the interface is down")
	}
	for end := time.Now().Add(time.Duration(j.p.Wait) * time.Second); j.ifp.LinkState() != ifnet.LinkStateUp; {
		if time.Now().After(end) {
			return errors.New("no carrier")
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for lookStep.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lookStep):
		return nil
	}
}

// progress is what interface and hardware have done with packets.
type progress struct{ handed, left uint64 }

func (j *job) progress() progress {
	st := j.port.Stats()
	p := progress{handed: j.nic.Ledger().Handed, left: st.TxFrames}
	for _, n := range st.TxErrors {
		p.left += n
	}
	return p
}

// awaitHardware waits until what the interface took has been handed to the hardware and
// has left it, as long as something moves.
func (j *job) awaitHardware(ctx context.Context) error {
	var last progress
	for end := time.Now().Add(stallTime); ; {
		l, now := j.nic.Ledger(), j.progress()
		if l.Queued == 0 && l.Balanced() && now.left-j.base.left >= now.handed-j.base.handed {
			return nil
		}
		if now != last {
			last, end = now, time.Now().Add(stallTime)
		}
		if time.Now().After(end) {
			return fmt.Errorf("frames are stuck: %v; hardware sent %d of %d", l, now.left-j.base.left, now.handed-j.base.handed)
		}
		j.nic.KickTx()
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
