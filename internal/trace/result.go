package trace

import (
	"fmt"
	"time"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/probe"
)

// Change is a field that a step gave another value.
type Change struct {
	Name string `json:"name"` // FreeBSD's name of the field, or the register's
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Step is a trace point that fired, explained.
type Step struct {
	Number   int               `json:"step"`    // 1, 2, ...
	TimeNS   int64             `json:"time_ns"` // since the first packet was sent
	Who      string            `json:"who"`     // "altq", "iflib", "driver", "hardware", "port"
	Function string            `json:"function"`
	Probe    string            `json:"probe"` // provider:module:name
	Queue    *int              `json:"queue,omitempty"`
	Args     map[string]uint64 `json:"args,omitempty"`
	Text     string            `json:"text"`
	Changes  []Change          `json:"changes,omitempty"`
}

// Queue is a transmit queue as it was published last, under FreeBSD's names.
type Queue struct {
	ID        int    `json:"queue"`
	Pidx      uint16 `json:"ift_pidx"`
	Cidx      uint16 `json:"ift_cidx"`
	InUse     uint16 `json:"ift_in_use"`
	DBPending uint16 `json:"ift_db_pending"`
	RSPending uint16 `json:"ift_rs_pending"`
	Processed uint64 `json:"ift_processed"`
	Cleaned   uint64 `json:"ift_cleaned"`
}

// Result is a trace. It is constant.
type Result struct {
	Device  string   `json:"device"`
	Path    string   `json:"path"` // "mp_ring" or "simple_tx"
	Packets int      `json:"packets"`
	Size    int      `json:"size"`
	Before  []Queue  `json:"before"`
	Steps   []Step   `json:"steps"`
	After   []Queue  `json:"after"`
	Summary []string `json:"summary"`

	events []probe.Event
}

// queues takes the state of a device's transmit queues.
func queues(ctx *iflib.Ctx) []Queue {
	out := make([]Queue, ctx.NTxqs())
	for i := range out {
		s := ctx.TxqState(i)
		out[i] = Queue{
			ID: i, Pidx: s.Pidx, Cidx: s.Cidx, InUse: s.InUse,
			DBPending: s.DBPending, RSPending: s.RSPending, Processed: s.Processed, Cleaned: s.Cleaned,
		}
	}
	return out
}

// result explains what was recorded.
func (s *session) result() *Result {
	ctx := s.m.Ctx(s.cfg.Iface)
	r := &Result{
		Device: s.cfg.Iface, Path: "mp_ring", Packets: s.cfg.Packets, Size: s.cfg.Size,
		Before: s.start, After: queues(ctx), events: s.events,
	}
	x := newExplainer(s.start)
	for i := range s.events {
		r.Steps = append(r.Steps, x.step(i+1, s.begin, &s.events[i]))
	}
	if x.simple {
		r.Path = "simple_tx"
	}
	r.Summary = s.summary(r, x)
	return r
}

// step explains one event; begin is the time that counts as 0.
func (x *explainer) step(n int, begin time.Duration, e *probe.Event) Step {
	p := e.Point()
	st := Step{Number: n, TimeNS: int64(e.Time - begin), Who: p.Provider, Function: p.Name, Probe: p.String()}
	if e.Queue >= 0 {
		st.Queue = &e.Queue
	}
	if e.NArgs > 0 {
		st.Args = make(map[string]uint64, e.NArgs)
	}
	for i, v := range e.Args[:e.NArgs] {
		st.Args[argName(p, i)] = v
	}
	r, ok := ruleOf(p)
	if !ok {
		st.Text = e.Note
		return st
	}
	st.Who, st.Function = r.who, r.function
	x.st, x.e = &st, e
	r.explain(x)
	return st
}

func argName(p probe.Point, i int) string {
	if i < len(p.Args) {
		return p.Args[i]
	}
	return fmt.Sprintf("arg%d", i)
}
