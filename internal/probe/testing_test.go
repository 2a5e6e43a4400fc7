package probe

import "time"

// Points that the tests fire.
var (
	pointEncap = Define("test", "encap", "pidx", "nsegs")
	pointEntry = Define("test", "drain-entry", "budget")
	pointLeave = Define("test", "drain-return")
)

// testClock returns a clock that starts at 10 s and advances by 1.5 us a reading.
func testClock() func() time.Duration {
	now := 10 * time.Second
	return func() time.Duration {
		t := now
		now += 1500 * time.Nanosecond
		return t
	}
}

func drain(s *Set) (events []Event) {
	s.Drain(func(e Event) { events = append(events, e) })
	return events
}

// traced fires a small story and returns its events.
func traced() []Event {
	s := NewSet(2, testClock())
	s.Enable(nil)
	s.Fire1(pointEntry, "em0", 1, 64)
	s.Fire2(pointEncap, "em0", 0, 5, 2)
	s.FireNote(pointEncap, "em1", -1, `read "DD"`, 7, 8, 9)
	s.Fire1(pointLeave, "em0", 1, 0)
	return drain(s)
}
