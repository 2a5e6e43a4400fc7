package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/ifsim/ifsim/internal/bench/stat"
)

// WriteBench writes the result in the format that benchstat reads: a line a slice.
func (r *ForwardResult) WriteBench(w io.Writer) error {
	m := r.Machine
	if _, err := fmt.Fprintf(w, "cpu: %s\ndriver: %s\nengine: %s\nmmio-ns: %d\nlock: %s\nqueues: %d\n", m.CPU, m.Driver, m.Engine, m.MMIONs, m.Lock, r.Queues); err != nil {
		return err
	}
	for _, row := range r.Rows {
		for _, s := range row.slices {
			if _, err := fmt.Fprintf(w, "BenchmarkForward/path=%s-%d\t%d\t%.1f ns/op\t%.0f pps\t%.2f cal-ns\n", row.Path, m.CPUs, s.sent, s.cpuNs, s.pps, s.cal); err != nil {
				return err
			}
		}
	}
	return nil
}

// forwardColumns are the headings of the table.
var forwardColumns = []string{
	"PATH", "OFFERED", "SENT", "DROPPED", "MISSED", "KPPS", "P25", "P75", "MIN", "MAX", "CPU-NS/PKT", "RATIO", "VERDICT pps / cpu", "TXQS", "CAL-NS",
}

// WriteTable writes the result for people.
func (r *ForwardResult) WriteTable(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s, %d CPUs, %s, GOMAXPROCS %d\n", m.CPU, m.CPUs, m.Go, m.GOMAXPROCS)
	fmt.Fprintf(w, "%s0 to %[1]s1 on null ports, queues %d, %s engine, mmio %d ns, lock %s; %s; %d rounds of %v a path, in turns\n\n",
		m.Driver, r.Queues, m.Engine, m.MMIONs, m.Lock, m.Packet, m.Runs, m.Duration)
	rows := [][]string{forwardColumns}
	for i := range r.Rows {
		rows = append(rows, r.Rows[i].cells())
	}
	return writeRows(w, rows, r.footnotes())
}

// cells are the row's columns as text.
func (r *ForwardRow) cells() []string {
	verdict := "-"
	if r.Verdicts != nil {
		verdict = fmt.Sprintf("%s / %s", r.Verdicts[MetricPPS], r.Verdicts[MetricCPU])
	}
	cells := []string{r.Path, count(r.Offered), count(r.Sent), count(r.Dropped), count(r.Missed)}
	cells = append(cells, r.ppsCells()...)
	return append(cells, fmt.Sprintf("%.1f", r.NsPerPkt), r.ratioCell(), verdict, fmt.Sprintf("%d/%d", r.used(), len(r.PerQueue)), r.calCell())
}

// footnotes explain the columns.
func (r *ForwardResult) footnotes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "KPPS: thousand packets a second that were forwarded, median of the rounds. RATIO: to %s in the same round, median.\n", BaselinePath)
	b.WriteString("MISSED: frames for which the receiving NIC had no descriptor. DROPPED: on the way through the machine.\n")
	b.WriteString("CPU-NS/PKT: of the machine, without the flood, which does the work of the receiving NIC. TXQS: transmit queues used, of all.\n")
	fmt.Fprintf(&b, "VERDICT: who is better, %s unless Mann-Whitney p < %g and the medians are %g %% apart.\n", stat.Undecided, stat.Alpha, stat.MinEffect*100)
	b.WriteString("CAL-NS: a fixed loop, timed in every slice; figures of rows with different CAL-NS do not compare.\n")
	if 1+r.Queues > r.Machine.CPUs {
		b.WriteString("The flood and the queues outnumber the CPUs: packets a second are those of threads that take turns.\n")
	}
	for i := range r.Rows {
		if r.Rows[i].Calibration.Shared > 0 {
			b.WriteString(sharedNote)
			break
		}
	}
	if r.Machine.Runs < MinRuns {
		fmt.Fprintf(&b, tooFewNote, r.Machine.Runs, MinRuns)
	}
	return b.String()
}
