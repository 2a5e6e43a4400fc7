package igb_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// host is a stepped machine.
type host struct {
	*machine.Machine
	t       *testing.T
	console rig.Console
}

func newHost(t *testing.T, ncpu, perCore int, env map[string]string) *host {
	t.Helper()
	h := &host{t: t}
	m, err := machine.Boot(machine.Config{NCPU: ncpu, ThreadsPerCore: perCore, MemSize: 128 << 20, Executor: kern.Stepped,
		Clock: kern.ManualClock, Invariants: true, Console: &h.console, Env: env})
	h.must(err)
	t.Cleanup(func() { h.must(m.Close()) })
	h.Machine = m
	return h
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%v\n%s", err, h.console.String())
	}
}

func (h *host) settle(d time.Duration) {
	h.Kernel().RunUntilIdle()
	h.Kernel().Advance(d)
	h.Kernel().RunUntilIdle()
}

func (h *host) text(name string) string {
	h.t.Helper()
	s, err := h.Kernel().Sysctl.Text(name)
	h.must(err)
	return s
}

// forwarder hands what one interface receives to another's Transmit, as it is.
type forwarder struct{ to *ifnet.Ifnet }

func (f forwarder) Hook(_ *mbuf.Cache, _ *ifnet.Ifnet, dir ifnet.PfilDir, _ ifnet.AF, m **mbuf.Mbuf) ifnet.PfilResult {
	if dir != ifnet.PfilIn {
		return ifnet.PfilPass
	}
	_ = f.to.Transmit(*m) // it counts what it drops
	return ifnet.PfilConsumed
}

// onlyFrom is a forwarder of one interface.
type onlyFrom struct {
	from *ifnet.Ifnet
	forwarder
}

func (f onlyFrom) Hook(c *mbuf.Cache, ifp *ifnet.Ifnet, dir ifnet.PfilDir, af ifnet.AF, m **mbuf.Mbuf) ifnet.PfilResult {
	if ifp != f.from {
		return ifnet.PfilPass
	}
	return f.forwarder.Hook(c, ifp, dir, af, m)
}

// flows are the frames of 20 x 100 UDP flows, of 60 bytes each.
func flows(t *testing.T, dst [6]byte) (frames []port.RxFrame) {
	const sources, destinations, udpPort, payload = 20, 100, 2000, 18
	for s := range sources {
		for d := range destinations {
			f := rig.NewFlow(payload)
			f.Dst, f.UDP, f.SPort, f.DPort = dst, true, udpPort, udpPort
			f.Src4, f.Dst4 = []byte{198, 18, 10, byte(s + 1)}, []byte{198, 19, 10, byte(d + 1)}
			frames = append(frames, port.RxFrame{Data: f.Build(t)})
		}
	}
	return frames
}

// forwardFlows receives 2000 flows on igb0 and sends them on igb1, and returns how many
// packets each transmit queue got.
func forwardFlows(t *testing.T, env map[string]string) (perQueue []int) {
	t.Helper()
	all := map[string]string{"hint.igb.0.port": "null", "hint.igb.1.port": "null"}
	maps.Copy(all, env)
	h := newHost(t, 4, 1, all)
	for _, name := range []string{"igb0", "igb1"} {
		h.must(h.Up(name))
	}
	h.settle(3 * time.Second)
	in, out := h.Ifnet("igb0"), h.Ifnet("igb1")
	hook := onlyFrom{in, forwarder{out}}
	in.LinkPfil().Add(hook)
	defer in.LinkPfil().Remove(hook)
	frames := flows(t, in.MAC())
	total := len(frames)
	for batch := range slices.Chunk(frames, 200) {
		if n := h.Port("igb0").(*null.Port).Inject(batch...); n != len(batch) {
			t.Fatalf("%d of %d frames found room", n, len(batch))
		}
		h.settle(time.Millisecond)
	}
	sum := 0
	for i := range h.Ctx("igb1").NTxqs() {
		s := h.Ctx("igb1").TxqState(i)
		n := int(s.Cleaned) + int(s.InUse) // one descriptor a packet
		perQueue, sum = append(perQueue, n), sum+n
	}
	if sent := h.Port("igb1").Stats().TxFrames; sum != total || int(sent) != total {
		t.Fatalf("%d descriptors and %d frames for %d packets", sum, sent, total)
	}
	return perQueue
}

func TestForwardedUDPSpreadsOverTheQueues(t *testing.T) {
	chips := []string{"I210", "82576", "I350"}
	if testing.Short() {
		chips = chips[:1]
	}
	for _, chip := range chips {
		for _, simple := range []string{"0", "1"} {
			got := forwardFlows(t, map[string]string{"hint.igb.0.device": chip, "hint.igb.1.device": chip,
				"dev.igb.1.iflib.simple_tx": simple})
			if len(got) != 4 {
				t.Fatalf("%s: %d queues, want 4", chip, len(got))
			}
			if least, most := slices.Min(got), slices.Max(got); (most-least)*10 >= most {
				t.Errorf("%s, simple_tx %s: queues got %v, which differ by 10 %% or more", chip, simple, got)
			}
		}
	}
}

func TestForwardedUDPOnceUsedOneQueue(t *testing.T) {
	for simple, want := range map[string][]int{"0": {2000, 0, 0, 0}, "1": {0, 0, 0, 2000}} {
		got := forwardFlows(t, map[string]string{"dev.igb.0.legacy_udp_hashtype": "1", "dev.igb.1.iflib.simple_tx": simple})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("simple_tx %s (-want +got):\n%s", simple, diff)
		}
	}
}

// Queues and their CPUs: spec iflib 2.4 and 2.5.
func TestQueuesAreMadeAndBoundAsAsked(t *testing.T) {
	const dev = "dev.igb.0.iflib."
	for _, tc := range []struct {
		name          string
		ncpu, perCore int
		env           map[string]string
		tx, rx        []string // CPUs of the queues
	}{
		{"as many as CPUs", 2, 1, nil, []string{"0", "1"}, []string{"0", "1"}},
		{"as many as the part has", 8, 1, nil, []string{"0", "1", "2", "3"}, []string{"0", "1", "2", "3"}},
		{"as many as cores", 8, 2, map[string]string{"hint.igb.0.device": "82576"}, []string{"0", "2", "4", "6"}, []string{"0", "2", "4", "6"}},
		{"fewer", 4, 1, map[string]string{dev + "override_nrxqs": "2", dev + "override_ntxqs": "2"}, []string{"0", "1"}, []string{"0", "1"}},
		{"different numbers", 4, 1, map[string]string{dev + "override_nrxqs": "2", dev + "override_qs_enable": "1"},
			[]string{"0", "1", "2", "3"}, []string{"0", "1"}},
		{"from another CPU on", 4, 1, map[string]string{dev + "core_offset": "3"}, []string{"3", "0", "1", "2"}, []string{"3", "0", "1", "2"}},
		{"apart", 8, 1, map[string]string{dev + "separate_txrx": "1"}, []string{"4", "5", "6", "7"}, []string{"0", "1", "2", "3"}},
		{"on the threads of a core", 8, 2, map[string]string{dev + "separate_txrx": "1", dev + "use_logical_cores": "1"},
			[]string{"1", "3", "5", "7"}, []string{"0", "2", "4", "6"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := map[string]string{"hint.igb.0.port": "null"}
			maps.Copy(env, tc.env)
			h := newHost(t, tc.ncpu, tc.perCore, env)
			cpus := func(kind string, n int) (list []string) {
				for i := range n {
					list = append(list, h.text(fmt.Sprintf("%s%s%d.cpu", dev, kind, i)))
				}
				return list
			}
			ctx := h.Ctx("igb0")
			if diff := cmp.Diff([][]string{tc.tx, tc.rx}, [][]string{cpus("txq", ctx.NTxqs()), cpus("rxq", ctx.NRxqs())}); diff != "" {
				t.Errorf("CPUs of transmit and receive queues (-want +got):\n%s", diff)
			}
			if got, want := h.text(dev+"allocated_msix_vectors"), fmt.Sprint(len(tc.rx)+1); got != want {
				t.Errorf("%s vectors, want %s", got, want)
			}
		})
	}
}
