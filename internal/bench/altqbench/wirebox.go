package altqbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/machine"
)

const (
	boxMemory = 96 << 20 // bytes
	boxCPUs   = 4        // so that NICs have several queues
)

// box is a machine whose NIC is on a wire, and shapes.
type box struct {
	run   *wireRun
	m     *machine.Machine
	name  string // of the interface
	ifp   *ifnet.Ifnet
	pf    *pf.PF
	queue *altq.Queue
}

// bootBox boots the machine, loads the configuration and waits for the link.
func bootBox(ctx context.Context, r *wireRun) (b *box, err error) {
	m, err := machine.Boot(machine.Config{NCPU: boxCPUs, MemSize: boxMemory, Console: io.Discard, Env: map[string]string{
		"hint." + r.driver + ".0.at":   "pci0:2:0:0",
		"hint." + r.driver + ".0.port": "packet:" + nicEnd,
		"net.iflib.prefer_mpring":      strconv.Itoa(r.preferMPRing),
	}})
	if err != nil {
		return nil, err
	}
	b = &box{run: r, m: m, name: r.driver + "0"}
	if b.ifp = m.Ifnet(b.name); b.ifp == nil {
		return nil, errors.Join(fmt.Errorf("%s did not attach", b.name), m.Close())
	}
	if err := b.shape(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return b, nil
}

// shape brings the interface up and does what pfctl -f and -e do.
func (b *box) shape(ctx context.Context) (err error) {
	if err := b.m.Up(b.name); err != nil {
		return err
	}
	if err := await(ctx, "link", func() (bool, error) { return b.ifp.LinkState() == ifnet.LinkStateUp, nil }); err != nil {
		return err
	}
	if b.pf, err = pf.Of(b.m.Kernel()); err != nil {
		return err
	}
	cfg, messages, ok := b.pf.Parse("pf.conf", b.run.s.rules(b.name), conf.Options{})
	if !ok {
		return fmt.Errorf("pf.conf: %v", messages)
	}
	if err := b.pf.Load(cfg); err != nil {
		return err
	}
	if err := b.pf.Enable(); err != nil {
		return err
	}
	b.queue, err = altq.Of(b.ifp)
	return err
}

// errTimeout: something that must come did not.
var errTimeout = errors.New("not in time")

// await polls until something is so.
func await(ctx context.Context, what string, is func() (bool, error)) error {
	const (
		patience = 10 * time.Second
		step     = time.Millisecond
	)
	tick := time.NewTicker(step)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; {
		if ok, err := is(); ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("waiting for %s: %w", what, errTimeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// pause waits for d.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// account is what the discipline has counted in queues that hold packets. Of those above
// them, CBQ's count what is below too.
type account struct {
	queues     map[string]altq.ClassStats // by name; "" where there are none
	xmit, drop uint64                     // frames
	bytes      uint64                     // of xmit
}

func (b *box) account() account {
	a := account{queues: make(map[string]altq.ClassStats)}
	list, _ := b.pf.Queues()
	for _, q := range list {
		if q.Stats != nil && !isParent(list, q.Qname) {
			a.queues[q.Qname] = *q.Stats
			a.xmit += q.Stats.Xmit.Packets
			a.bytes += q.Stats.Xmit.Bytes
			a.drop += q.Stats.Drop.Packets
		}
	}
	return a
}

// isParent reports whether there are queues below a queue.
func isParent(list []pf.QueueInfo, name string) bool {
	return name != "" && slices.ContainsFunc(list, func(q pf.QueueInfo) bool { return q.Parent == name })
}

// txqFrames are the frames that the mp_ring of queue 0 has taken, and what of others has
// been used at all: their mp_rings and descriptors.
func (b *box) txqFrames() (zero, others uint64, err error) {
	ctx := b.m.Ctx(b.name)
	for i := range ctx.NTxqs() {
		text, err := b.m.Kernel().Sysctl.Text(fmt.Sprintf("dev.%s.0.iflib.txq%d.r_enqueues", b.run.driver, i))
		if err != nil {
			return 0, 0, err
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, 0, err
		}
		if i == 0 {
			zero = n
			continue
		}
		others += n + uint64(ctx.TxqState(i).Pidx)
	}
	return zero, others, nil
}
