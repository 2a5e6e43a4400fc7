package bench

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/machine"
)

// rigMemory is the memory of an experiment's machine in bytes: enough for a full
// descriptor ring, a full mp_ring and every sender's cache.
const rigMemory = 128 << 20

// rig is a machine with one NIC on a null port that sends along one path.
type rig struct {
	arm   arm
	m     *machine.Machine
	ctx   *iflib.Ctx
	ifp   *ifnet.Ifnet
	port  port.Port
	zones *mbuf.Zones
}

// newRig makes the machine of an arm.
func newRig(o *TxOptions, a arm) (*rig, error) {
	const nics, queues, ncpu = 1, 1, 0
	m, err := o.boot(a, nics, queues, ncpu)
	if err != nil {
		return nil, err
	}
	name := o.Driver + "0"
	return &rig{arm: a, m: m, ctx: m.Ctx(name), ifp: m.Ifnet(name), port: m.Port(name), zones: mbuf.Of(m.Kernel())}, nil
}

// boot boots a machine for an arm, with so many CPUs, 0 for those that its settings say, and
// brings its interfaces up. Their links need a while.
func (o *Options) boot(a arm, nics, queues, ncpu int) (*machine.Machine, error) {
	m, err := machine.Boot(machine.Config{Env: o.env(a, nics, queues), NCPU: ncpu, Console: io.Discard, MemSize: rigMemory})
	if err != nil {
		return nil, fmt.Errorf("booting a machine for %s: %w", a.name(), err)
	}
	if a.variant.Ready != nil {
		if err := a.variant.Ready(m); err != nil {
			return nil, closeAfter(m, err)
		}
	}
	for i := range nics {
		name := o.Driver + strconv.Itoa(i)
		if err := m.Up(name); err != nil {
			return nil, fmt.Errorf("bringing %s up: %w", name, closeAfter(m, err))
		}
	}
	return m, nil
}

// closeAfter closes the machine because of err, which it returns.
func closeAfter(m *machine.Machine, err error) error {
	if cerr := m.Close(); cerr != nil {
		return fmt.Errorf("%w (and closing: %v)", err, cerr)
	}
	return err
}

// How long a machine is given to settle, and between looks.
const (
	settleTime = 5 * time.Second
	settleStep = 200 * time.Microsecond
)

// awaitLink waits until the interface may send.
func awaitLink(ifp *ifnet.Ifnet) error {
	for end := time.Now().Add(settleTime); ifp.LinkState() != ifnet.LinkStateUp; time.Sleep(settleStep) {
		if time.Now().After(end) {
			return fmt.Errorf("%s: no link after %v", ifp.Name(), settleTime)
		}
	}
	return nil
}

// quiesce waits until every packet is accounted for and out of the soft rings,
// and returns the account.
func (r *rig) quiesce() (iflib.Ledger, error) {
	for end := time.Now().Add(settleTime); ; time.Sleep(settleStep) {
		l := r.ctx.Ledger()
		if l.Queued == 0 && l.Balanced() && r.port.Stats().TxFrames == l.Handed {
			return l, nil
		}
		if time.Now().After(end) {
			return l, fmt.Errorf("%s does not come to rest: %v, hardware sent %d", r.arm.name(), l, r.port.Stats().TxFrames)
		}
		r.ctx.KickTx()
	}
}
