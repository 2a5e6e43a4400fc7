package ifnet

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Defaults of the sysctls (spec ifnet 6.11).
const (
	defaultIFQMaxLen   = 50
	defaultDescrMaxLen = 1024
)

// stack is what a machine has one of: the interface list and index table, protocol
// and hook registrations, and the sysctls.
type stack struct {
	k     *kern.Kernel
	zones *mbuf.Zones
	tq    *kern.TaskQueue // taskqueue_swi: link state and looped packets
	loop  loopQueue
	check bool // Invariants

	ifqMaxLen   atomic.Int32
	logLink     atomic.Int32
	logPromisc  atomic.Int32
	descrMaxLen atomic.Uint32

	protocols atomic.Pointer[[]protocol]
	resolvers atomic.Pointer[[]resolver]
	inetPfil  PfilHead
	inet6Pfil PfilHead

	mu       sync.RWMutex
	list     []*Ifnet // attach order
	indexes  []*Ifnet // by index; slot 0 unused
	watchers watchers[EventKind]
	vlanOn   watchers[uint16] // VLAN ids
	vlanOff  watchers[uint16]
}

// Init prepares the interface layer of a machine and registers its sysctls
// (net.link.*, net.ifdescr_maxlen, spec ifnet 6.11). A second call does nothing. The
// mbuf zones come first.
func Init(k *kern.Kernel) error {
	if _, ok := kern.Lookup[*stack](k); ok {
		return nil
	}
	z, ok := kern.Lookup[*mbuf.Zones](k)
	if !ok {
		return fmt.Errorf("interface layer without mbuf zones: %w", syscall.ENXIO)
	}
	s := &stack{k: k, zones: z, check: k.Invariants(), indexes: make([]*Ifnet, 1)}
	s.ifqMaxLen.Store(defaultIFQMaxLen)
	s.logLink.Store(1)
	s.logPromisc.Store(1)
	s.descrMaxLen.Store(defaultDescrMaxLen)
	s.addSysctls()
	s.tq = k.NewTaskQueue("swi_ifnet")
	s.loop.init(s)
	kern.Attach(k, s)
	z.AddHolder(s)
	k.OnClose(s.close)
	return nil
}

func (s *stack) close() {
	s.tq.Close()
	s.loop.purge()
}

// stackOf is the machine's interface layer, made at the first call.
func stackOf(k *kern.Kernel) *stack {
	if err := Init(k); err != nil {
		panic("ifnet: " + err.Error())
	}
	s, _ := kern.Lookup[*stack](k)
	return s
}

func (s *stack) addSysctls() {
	t := s.k.Sysctl
	c := t.StaticCtx()
	network := c.Node(nil, "net", sysctl.RW, "")
	link := c.Node(network, "link", sysctl.RW, "")
	c.Int(link, "ifqmaxlen", sysctl.RDTUN, &s.ifqMaxLen, "max send queue size")
	c.Int(link, "log_link_state_change", sysctl.RW, &s.logLink, "log interface link state change events")
	c.Int(link, "log_promisc_mode_change", sysctl.RDTUN, &s.logPromisc, "log promiscuous mode change events")
	c.Uint(network, "ifdescr_maxlen", sysctl.RW, &s.descrMaxLen, "administrative maximum length for interface description")
	s.addMIB(c, c.Node(link, "generic", sysctl.RW, ""))
}

// allocIndex gives ifp the smallest free index.
func (s *stack) allocIndex(ifp *Ifnet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(s.indexes); i++ {
		if s.indexes[i] == nil {
			s.indexes[i], ifp.index = ifp, i
			return
		}
	}
	ifp.index = len(s.indexes)
	s.indexes = append(s.indexes, ifp)
}

func (s *stack) freeIndex(ifp *Ifnet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexes[ifp.index] == ifp {
		s.indexes[ifp.index] = nil
	}
	for len(s.indexes) > 1 && s.indexes[len(s.indexes)-1] == nil {
		s.indexes = s.indexes[:len(s.indexes)-1]
	}
}

// maxIndex is the highest index in use (if_index).
func (s *stack) maxIndex() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.indexes) - 1
}

// List is the machine's attached interfaces, in attach order.
func List(k *kern.Kernel) []*Ifnet {
	s := stackOf(k)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.list)
}

// ByName finds an attached interface by its present name (ifunit); nil if there is none.
func ByName(k *kern.Kernel, name string) *Ifnet {
	s := stackOf(k)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byName(name)
}

func (s *stack) byName(name string) *Ifnet {
	for _, ifp := range s.list {
		if ifp.Name() == name {
			return ifp
		}
	}
	return nil
}

// ByIndex finds an attached interface by index (ifnet_byindex); nil if there is none.
func ByIndex(k *kern.Kernel, index int) *Ifnet {
	s := stackOf(k)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, ifp := range s.list {
		if ifp.index == index {
			return ifp
		}
	}
	return nil
}
