package probe

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Names that end so open and close a span in a Perfetto trace, as DTrace's entry
// and return probes do; every other point is an instant.
const (
	entrySuffix  = "-entry"
	returnSuffix = "-return"
)

// Phases of Chrome's trace event format.
const (
	phaseBegin    = "B"
	phaseEnd      = "E"
	phaseInstant  = "i"
	phaseMetadata = "M"
)

// chromeEvent is one record of Chrome's trace event format.
type chromeEvent struct {
	Name     string      `json:"name"`
	Category string      `json:"cat,omitempty"`
	Phase    string      `json:"ph"`
	Scope    string      `json:"s,omitempty"`
	TimeUS   json.Number `json:"ts,omitempty"`
	Process  int         `json:"pid"`
	Thread   int         `json:"tid"`
	Args     any         `json:"args,omitempty"`
}

// WritePerfetto writes a trace that ui.perfetto.dev and chrome://tracing open:
// a process a device, a thread a queue, an instant an event.
func WritePerfetto(w io.Writer, events []Event) error {
	out := bufio.NewWriter(w)
	t := chromeTrace{out: out, processes: make(map[string]int), threads: make(map[chromeThread]bool)}
	out.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	for i := range events {
		t.event(&events[i])
	}
	out.WriteString("\n]}\n")
	if t.err != nil {
		return fmt.Errorf("writing trace: %w", t.err)
	}
	return flush(out)
}

type chromeThread struct{ process, thread int }

// chromeTrace is a trace half written. The first error stays; later writes do nothing.
type chromeTrace struct {
	out       *bufio.Writer
	processes map[string]int // pid by device
	threads   map[chromeThread]bool
	records   int
	err       error
}

func (t *chromeTrace) event(e *Event) {
	p := e.Point()
	th := t.thread(e)
	rec := chromeEvent{
		Name: p.Name, Category: p.Provider, Phase: phaseInstant, Scope: "t",
		TimeUS: microseconds(e.Time), Process: th.process, Thread: th.thread,
	}
	if name, ok := strings.CutSuffix(p.Name, entrySuffix); ok {
		rec.Name, rec.Phase, rec.Scope = name, phaseBegin, ""
	} else if name, ok := strings.CutSuffix(p.Name, returnSuffix); ok {
		rec.Name, rec.Phase, rec.Scope = name, phaseEnd, ""
	}
	if args := (jsonArgs{point: p, values: e.Args[:e.NArgs], note: e.Note}); !args.IsZero() {
		rec.Args = args
	}
	t.write(rec)
}

// thread returns the track of an event and names it when it is new. Thread
// numbers start at 1; 0 is the device itself.
func (t *chromeTrace) thread(e *Event) chromeThread {
	pid, ok := t.processes[e.Dev]
	if !ok {
		pid = len(t.processes) + 1
		t.processes[e.Dev] = pid
		t.name("process_name", chromeThread{process: pid}, e.Dev)
	}
	th := chromeThread{process: pid, thread: max(e.Queue, -1) + 1}
	if !t.threads[th] {
		t.threads[th] = true
		name := "device"
		if e.Queue >= 0 {
			name = "queue " + strconv.Itoa(e.Queue)
		}
		t.name("thread_name", th, name)
	}
	return th
}

func (t *chromeTrace) name(kind string, th chromeThread, name string) {
	t.write(chromeEvent{
		Name: kind, Phase: phaseMetadata, Process: th.process, Thread: th.thread,
		Args: map[string]string{"name": name},
	})
}

func (t *chromeTrace) write(rec chromeEvent) {
	if t.err != nil {
		return
	}
	b, err := json.Marshal(rec)
	if err != nil {
		t.err = err
		return
	}
	if t.records > 0 {
		t.out.WriteByte(',')
	}
	t.records++
	t.out.WriteByte('\n')
	_, t.err = t.out.Write(b)
}

// microseconds writes a time as the format wants it, without losing nanoseconds.
func microseconds(d time.Duration) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d", d/time.Microsecond, d%time.Microsecond))
}
