package altqsim

import "time"

// The AIMD source of scenario D5 (spec altq 6.2).
const (
	roundTrip   = 40 * time.Millisecond
	firstWindow = 4
	leastWindow = 2
)

// aimd is a window that grows by one a round trip and halves with a drop.
type aimd struct {
	window    float64
	inFlight  int
	lastHalve time.Duration
}

// fillWindow sends while the window has room.
func (f *Flow) fillWindow() {
	for !f.stopped() && float64(f.aimd.inFlight) < f.aimd.window {
		f.aimd.inFlight++
		f.link.Send(f)
	}
}

// ackSeen is a delivered frame's acknowledgement.
func (f *Flow) ackSeen() {
	f.aimd.inFlight--
	f.aimd.window += 1 / f.aimd.window
	f.fillWindow()
}

// lossSeen is the notice of a drop: the window halves at most once a round trip.
func (f *Flow) lossSeen() {
	a := &f.aimd
	a.inFlight--
	if now := f.link.now; now-a.lastHalve >= roundTrip {
		a.window = max(a.window/2, leastWindow)
		a.lastHalve = now
	}
	f.fillWindow()
}
