package ifnet

import (
	"slices"

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

// watchers are functions that hear of what happens to interfaces, of type E.
type watchers[E any] struct{ fns cowList[*func(*Ifnet, E)] }

// add appends a function; the result takes it away.
func (w *watchers[E]) add(fn func(*Ifnet, E)) (cancel func()) {
	p := &fn
	w.fns.change(func(list []*func(*Ifnet, E)) []*func(*Ifnet, E) { return append(list, p) })
	return func() {
		w.fns.change(func(list []*func(*Ifnet, E)) []*func(*Ifnet, E) {
			return slices.DeleteFunc(list, func(q *func(*Ifnet, E)) bool { return q == p })
		})
	}
}

// call calls the functions in order of registration.
func (w *watchers[E]) call(ifp *Ifnet, e E) {
	list := w.fns.Load()
	if list == nil {
		return
	}
	for _, fn := range *list {
		(*fn)(ifp, e)
	}
}

// OnEvent calls fn at each event of any interface of the machine, in order of
// registration, in the goroutine in which it happens, with no lock held: fn may make
// requests. The result ends it.
func OnEvent(k *kern.Kernel, fn func(ifp *Ifnet, e EventKind)) (cancel func()) {
	return stackOf(k).watchers.add(fn)
}

func (ifp *Ifnet) publish(e EventKind) { ifp.stack.watchers.call(ifp, e) }

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
