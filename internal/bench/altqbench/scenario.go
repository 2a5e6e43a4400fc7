package altqbench

import (
	"time"
)

// scenario is an interface that shapes, who sends, and what they should get.
type scenario struct {
	discipline string // "" if it is in all scenarios of a table
	name       string
	config     string // of pf.conf, for the interface IF
	flows      []flow
	phases     []phase
	drawn      bool // in the picture
}

// flow sends frames evenly unless it is AIMD.
type flow struct {
	name  string
	queue string // "" for the name
	hash  uint32
	size  int     // bytes, 0 for frameSize
	mbps  float64 // that it offers
	aimd  bool    // it sends as drops let it
	start time.Duration
	stop  time.Duration // 0: it does not
}

// phase is a time in which rates are constant; the first scenario's without bounds are
// settle and Options.Simulated.
type phase struct {
	name        string
	from, until time.Duration
	wants       []want
}

// want is one figure; the class is a flow, or all.
type want struct {
	class    string
	quantity Quantity
	expected Range
}

const (
	frameSize = 1514                   // bytes of a full frame without FCS
	linkMbps  = 10                     // of every link
	linkRate  = linkMbps * mega        // bits a second
	greedy    = 2 * linkMbps           // Mb/s of who never has enough
	all       = "all"                  // flows together
	ifName    = "IF"                   // the interface in a scenario's config
	apart     = 300 * time.Microsecond // between the starts of flows, so that they do not move in step
)

// settle passes before what has one phase is measured.
const settle = 5 * time.Second

// Tolerances of spec altq 6.2.
const (
	tight = 0.005
	loose = 0.01
	cbqBy = 0.2 // Mb/s: 2% of the link, for classes of CBQ
)

// steady is the phases of what has one.
func steady(wants ...want) []phase { return []phase{{wants: wants}} }

// gets is a rate in Mb/s, with its tolerance as a share.
func gets(class string, mbps, share float64) want { return want{class, Rate, near(mbps, share)} }

// getsBy is a rate with its tolerance in Mb/s.
func getsBy(class string, mbps, by float64) want { return want{class, Rate, within(mbps, by)} }

// loses is a share of the frames in percent, with its tolerance in points.
func loses(class string, percent, by float64) want { return want{class, Lost, within(percent, by)} }

// waits has bounds of the mean wait in ms.
func waits(class string, low, high float64) want { return want{class, MeanWait, between(low, high)} }

// waitsAtMost bounds every wait in ms.
func waitsAtMost(class string, ms float64) want { return want{class, Longest, between(0, ms)} }

func (f *flow) queueName() string {
	if f.queue != "" {
		return f.queue
	}
	return f.name
}

func (f *flow) frame() int {
	if f.size != 0 {
		return f.size
	}
	return frameSize
}
