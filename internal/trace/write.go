package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ifsim/ifsim/internal/probe"
)

// Widths of the text.
const (
	textWidth = 96
	indent    = "          "
)

// WriteText writes the trace for people: a heading, a block a step, a summary.
func (r *Result) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s: %s of %d bytes through %s\n", r.Device, plural(uint64(r.Packets), "packet"), r.Size, r.Path)
	for _, q := range r.Before {
		fmt.Fprintf(out, "queue %d before: ift_pidx %d ift_cidx %d ift_in_use %d ift_rs_pending %d\n",
			q.ID, q.Pidx, q.Cidx, q.InUse, q.RSPending)
	}
	for i := range r.Steps {
		r.Steps[i].writeText(out)
	}
	fmt.Fprintf(out, "\nwhere everything is now\n")
	for _, line := range r.Summary {
		wrap(out, "  ", "    ", line)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing trace: %w", err)
	}
	return nil
}

// writeText writes a step. What cannot be written shows at the flush.
func (s *Step) writeText(out *bufio.Writer) {
	const nsPerUS = 1000
	queue := ""
	if s.Queue != nil {
		queue = fmt.Sprintf(" queue %d", *s.Queue)
	}
	fmt.Fprintf(out, "\n%4d  %-8s  %s  [%s%s, +%d.%03d us]\n", s.Number, s.Who, s.Function, s.Probe, queue, s.TimeNS/nsPerUS, s.TimeNS%nsPerUS)
	wrap(out, indent, indent, s.Text)
	for _, c := range s.Changes {
		fmt.Fprintf(out, "%s  %s: %s -> %s\n", indent, c.Name, c.Old, c.New)
	}
}

// wrap writes text in lines of at most textWidth bytes where its words allow.
func wrap(out *bufio.Writer, first, rest, text string) {
	line := first
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > textWidth {
			fmt.Fprintln(out, line)
			line = rest + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(out, line)
}

// WriteJSON writes the trace as one JSON object, Result's.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("writing trace: %w", err)
	}
	return nil
}

// WritePerfetto writes the events as a trace that ui.perfetto.dev opens, on the manual
// clock's time.
func (r *Result) WritePerfetto(w io.Writer) error { return probe.WritePerfetto(w, r.events) }
