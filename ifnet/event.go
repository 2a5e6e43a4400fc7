package ifnet

import (
	"slices"
	"sync"

	"github.com/ifsim/ifsim/internal/kern"
)

// EventKind is what happened to an interface (the eventhandlers of net/if.c).
type EventKind uint8

// Events.
const (
	EventArrival   EventKind = iota // ifnet_arrival_event: attached, or has a new name
	EventDeparture                  // ifnet_departure_event: detached, or about to lose its name
	EventUp                         // IFNET_EVENT_UP
	EventDown                       // IFNET_EVENT_DOWN
	EventLink                       // ifnet_link_event: only the final state is seen
	EventRename                     // ifnet_rename_event
	EventLLAddr                     // iflladdr_event
	EventMTU                        // rt_updatemtu and its like
)

var eventNames = [...]string{"arrival", "departure", "up", "down", "link", "rename", "lladdr", "mtu"}

// String is the event's name.
func (e EventKind) String() string {
	if int(e) < len(eventNames) {
		return eventNames[e]
	}
	return "unknown"
}

// watchers is a list of functions that changes by copy.
type watchers struct {
	mu  sync.Mutex
	fns []*func(ifp *Ifnet, e EventKind)
}

// OnEvent calls fn at each event of any interface of the machine, in order of
// registration, in the goroutine in which it happens, with no lock held: fn may make
// requests. The result ends it.
func OnEvent(k *kern.Kernel, fn func(ifp *Ifnet, e EventKind)) (cancel func()) {
	w := &stackOf(k).watchers
	p := &fn
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fns = append(slices.Clip(w.fns), p)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fns = slices.DeleteFunc(slices.Clone(w.fns), func(q *func(*Ifnet, EventKind)) bool { return q == p })
	}
}

func (ifp *Ifnet) publish(e EventKind) {
	w := &ifp.stack.watchers
	w.mu.Lock()
	fns := w.fns
	w.mu.Unlock()
	for _, fn := range fns {
		(*fn)(ifp, e)
	}
}

// unlock ends a request and then publishes what happened in it.
func (ifp *Ifnet) unlock() {
	events := ifp.later
	ifp.later = nil
	ifp.ioctl.Unlock()
	for _, e := range events {
		ifp.publish(e)
	}
}

// note defers an event to the end of the request.
func (ifp *Ifnet) note(e EventKind) { ifp.later = append(ifp.later, e) }
