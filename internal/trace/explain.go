package trace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/iflib/mpring"
	"github.com/ifsim/ifsim/internal/probe"
)

// explainer turns events into steps. It remembers the last known value of each field, so
// that a step shows what it changed.
type explainer struct {
	queues   map[int]*Queue
	simple   bool // the packets took simple_tx
	sent     int  // frames that the port took
	reported int  // write-backs
	reserve  int  // completed descriptors that iflib keeps back, as last shown
	freed    int  // packets freed
	vectors  int  // interrupts

	st *Step
	e  *probe.Event
}

func newExplainer(start []Queue) *explainer {
	x := &explainer{queues: make(map[int]*Queue)}
	for _, q := range start {
		x.queues[q.ID] = &q
	}
	return x
}

// rule says what a trace point means.
type rule struct {
	who      string
	function string // FreeBSD's
	explain  func(*explainer)
}

// Who acts.
const (
	byALTQ     = "altq"
	byIflib    = "iflib"
	byDriver   = "driver"
	byHardware = "hardware"
	byPort     = "port"
)

// arg is an argument of the event at hand, by name; 0 if it has none of that name.
func (x *explainer) arg(name string) uint64 { return x.st.Args[name] }

func (x *explainer) say(format string, a ...any) { x.st.Text = fmt.Sprintf(format, a...) }

// also adds a sentence.
func (x *explainer) also(format string, a ...any) { x.st.Text += " " + fmt.Sprintf(format, a...) }

// changed notes a field whose value the step may have changed.
func (x *explainer) changed(name, before, after string) {
	if before != after {
		x.st.Changes = append(x.st.Changes, Change{name, before, after})
	}
}

// queue is the state of the event's queue as known so far.
func (x *explainer) queue() *Queue {
	q, ok := x.queues[x.e.Queue]
	if !ok {
		q = &Queue{ID: x.e.Queue}
		x.queues[x.e.Queue] = q
	}
	return q
}

// set gives a field of the queue another value.
func set[T uint16 | uint64](x *explainer, name string, field *T, v T) {
	x.changed(name, strconv.FormatUint(uint64(*field), 10), strconv.FormatUint(uint64(v), 10))
	*field = v
}

// ringWord notes what became of an mp_ring's state word.
func (x *explainer) ringWord() {
	before, after := ringFields(x.arg("old")), ringFields(x.arg("new"))
	for i := range min(len(before), len(after)) {
		x.changed("mp_ring "+before[i][0], before[i][1], after[i][1])
	}
}

// ringFields takes the text of a state word ("pidx_head: 0001 ...") apart into names and
// values.
func ringFields(word uint64) (out [][2]string) {
	f := strings.Fields(mpring.StateText(word))
	for i := 0; i+1 < len(f); i += 2 {
		v := strings.TrimLeft(f[i+1], "0")
		if v == "" {
			v = "0"
		}
		out = append(out, [2]string{strings.TrimSuffix(f[i], ":"), v})
	}
	return out
}

// ringState is the state in the event's new word ("BUSY").
func (x *explainer) ringState(arg string) string {
	f := ringFields(x.arg(arg))
	return f[len(f)-1][1]
}

// plural is "1 frame" or "2 frames".
func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
