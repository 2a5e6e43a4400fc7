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

// argName returns the name of argument i of a point.
func (p Point) argName(i int) string {
	if i < len(p.Args) {
		return p.Args[i]
	}
	return "arg" + strconv.Itoa(i)
}

// WriteText writes a line an event: uptime in seconds, point, queue, arguments, note.
//
//	10.000001500 iflib:em0:txd-encap q0 pidx=5 nsegs=2
func WriteText(w io.Writer, events []Event) error {
	out := bufio.NewWriter(w)
	for i := range events {
		out.WriteString(events[i].String())
		out.WriteByte('\n')
	}
	return flush(out)
}

// String returns the event as WriteText writes it, without the end of line.
func (e Event) String() string {
	var b strings.Builder
	p := e.Point()
	fmt.Fprintf(&b, "%d.%09d %v", e.Time/time.Second, e.Time%time.Second, p)
	if e.Queue >= 0 {
		fmt.Fprintf(&b, " q%d", e.Queue)
	}
	for i, v := range e.Args[:e.NArgs] {
		fmt.Fprintf(&b, " %s=%d", p.argName(i), v)
	}
	if e.Note != "" {
		b.WriteString(" # ")
		b.WriteString(e.Note)
	}
	return b.String()
}

// jsonEvent is an event in JSON lines.
type jsonEvent struct {
	Seq      uint64   `json:"seq"`
	TimeNS   int64    `json:"time_ns"`
	Provider string   `json:"provider"`
	Module   string   `json:"module"`
	Name     string   `json:"name"`
	Queue    *int     `json:"queue,omitempty"`
	Args     jsonArgs `json:"args,omitzero"`
	Note     string   `json:"note,omitempty"`
}

// jsonArgs writes the arguments of an event as an object in their own order.
type jsonArgs struct {
	point  Point
	values []uint64
	note   string
}

// IsZero reports whether there is nothing to write.
func (a jsonArgs) IsZero() bool { return len(a.values) == 0 && a.note == "" }

// MarshalJSON implements json.Marshaler.
func (a jsonArgs) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, v := range a.values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, a.point.argName(i)), ':')
		b = strconv.AppendUint(b, v, 10)
	}
	if a.note != "" {
		if len(a.values) > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `"note":`...), a.note)
	}
	return append(b, '}'), nil
}

// appendString appends s as a JSON string. Marshalling a string cannot fail.
func appendString(b []byte, s string) []byte {
	quoted, _ := json.Marshal(s)
	return append(b, quoted...)
}

// WriteJSON writes JSON lines: an object an event with seq, time_ns, provider,
// module, name, queue (unless negative), args by name, and note.
func WriteJSON(w io.Writer, events []Event) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	for i := range events {
		e := &events[i]
		p := e.Point()
		line := jsonEvent{
			Seq: e.Seq, TimeNS: int64(e.Time), Note: e.Note,
			Provider: p.Provider, Module: p.Module, Name: p.Name,
			Args: jsonArgs{point: p, values: e.Args[:e.NArgs]},
		}
		if e.Queue >= 0 {
			line.Queue = &e.Queue
		}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("writing trace: %w", err)
		}
	}
	return flush(out)
}

func flush(out *bufio.Writer) error {
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing trace: %w", err)
	}
	return nil
}
