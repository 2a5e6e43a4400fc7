package trace

import (
	"fmt"

	"github.com/ifsim/ifsim/altq"
)

// What the discipline of an interface with ALTQ does before iflib sees a packet.

// discipline is who has the packets.
func (x *explainer) discipline() string {
	if t := altq.Type(x.arg("type")); t != altq.TypeNone {
		return t.String()
	}
	return "the FIFO"
}

func explainALTQEnqueue(x *explainer) {
	x.say("ALTQ is enabled on the interface: %s takes the packet of %s and holds %s now. Which queue of it a rule of pf.conf has said.",
		x.discipline(), plural(x.arg("len"), "byte"), plural(x.arg("qlen"), "packet"))
}

func explainALTQDequeue(x *explainer) {
	x.say("%s gives a packet of %s, which goes on to the mp_ring of queue 0, and holds %s now.",
		x.discipline(), plural(x.arg("len"), "byte"), plural(x.arg("qlen"), "packet"))
	if x.arg("regulated") != 0 {
		x.also("The token bucket has %s left%s.", tokens(x), debt(x))
	}
}

func explainALTQDrop(x *explainer) {
	x.say("%s of %s dropped. %s holds %s.", plural(x.arg("packets"), "packet"), plural(x.arg("bytes"), "byte"), x.discipline(), plural(x.arg("qlen"), "packet"))
}

func explainALTQThrottle(x *explainer) {
	x.say("The token bucket has %s%s: held back until the next tick, %s.", tokens(x), debt(x), plural(x.arg("qlen"), "packet"))
}

// tokens are what may be sent at once.
func tokens(x *explainer) string { return fmt.Sprintf("%d bytes", int64(x.arg("tokens"))) }

// debt says so if the last packet of a burst took more than there was.
func debt(x *explainer) string {
	if int64(x.arg("tokens")) < 0 {
		return ", a debt"
	}
	return ""
}
