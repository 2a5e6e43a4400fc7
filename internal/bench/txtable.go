package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ifsim/ifsim/internal/bench/stat"
)

// WriteJSON writes the result as one JSON object.
func (r *TxResult) WriteJSON(w io.Writer) error {
	return writeJSON(w, r)
}

// WriteBench writes the result in the format that benchstat reads: a line a
// slice.
func (r *TxResult) WriteBench(w io.Writer) error {
	m := r.Machine
	if _, err := fmt.Fprintf(w, "cpu: %s\ndriver: %s\nengine: %s\nmmio-ns: %d\nlock: %s\n", m.CPU, m.Driver, m.Engine, m.MMIONs, m.Lock); err != nil {
		return err
	}
	for _, row := range r.Rows {
		for _, s := range row.slices {
			if s.sent == 0 {
				continue
			}
			if _, err := fmt.Fprintf(w, "BenchmarkTx/path=%s/producers=%d/on-drop=%s-%d\t%d\t%.1f ns/op\t%.0f pps\t%.4f sent/offered\t%.2f cal-ns\n",
				row.Path, row.Producers, row.OnDrop, m.CPUs, s.sent, s.cpuNs, s.pps, s.share, s.cal); err != nil {
				return err
			}
		}
	}
	return nil
}

// Footnotes that all tables may have.
const (
	sharedNote = "!n: n slices stayed slow although they were run again: the host was shared.\n"
	tooFewNote = "Only %d rounds: too few for a verdict, which needs %d.\n"
)

// columns are the headings of the table.
var columns = []string{
	"PRODUCERS", "ON-DROP", "PATH", "OFFERED", "SENT", "DROPPED", "KPPS", "P25", "P75", "MIN", "MAX",
	"SENT%", "CPU-NS/PKT", "RATIO", "VERDICT pps / sent / cpu", "CAL-NS", "LINE-NS",
}

// WriteTable writes the result for people.
func (r *TxResult) WriteTable(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s, %d CPUs, %s, GOMAXPROCS %d\n", m.CPU, m.CPUs, m.Go, m.GOMAXPROCS)
	fmt.Fprintf(w, "%s on a null port, %s engine, mmio %d ns, lock %s; %s; %d rounds of %v a path, in turns\n\n",
		m.Driver, m.Engine, m.MMIONs, m.Lock, m.Packet, m.Runs, m.Duration)
	rows := [][]string{columns}
	for i := range r.Rows {
		rows = append(rows, r.Rows[i].cells())
	}
	return writeRows(w, rows, r.footnotes())
}

// writeRows writes a table of right-aligned columns, and what is to be said of it.
func writeRows(w io.Writer, rows [][]string, notes string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range rows {
		fmt.Fprintln(tw, strings.Join(cells, "\t")+"\t")
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+notes)
	return err
}

// cells are the row's columns as text.
func (r *TxRow) cells() []string {
	producers := strconv.Itoa(r.Producers)
	if r.Oversubscribed {
		producers += "*"
	}
	verdict := "-"
	if r.Verdicts != nil {
		verdict = fmt.Sprintf("%s / %s / %s", r.Verdicts[MetricPPS], r.Verdicts[MetricShare], r.Verdicts[MetricCPU])
	}
	crossing := "-"
	if r.Calibration.CrossingNs != 0 {
		crossing = fmt.Sprintf("%.0f", r.Calibration.CrossingNs)
	}
	cells := []string{producers, string(r.OnDrop), r.Path, count(r.Offered), count(r.Sent), count(r.Dropped)}
	cells = append(cells, r.ppsCells()...)
	return append(cells, fmt.Sprintf("%.1f", r.Share*100), fmt.Sprintf("%.1f", r.NsPerPkt), r.ratioCell(), verdict, r.calCell(), crossing)
}

// footnotes explain the columns that occur.
func (r *TxResult) footnotes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "KPPS: thousand packets a second that reached the hardware, median of the rounds. RATIO: to %s in the same round, median.\n", BaselinePath)
	fmt.Fprintf(&b, "VERDICT: who is better, %s unless Mann-Whitney p < %g and the medians are %g %% apart.\n", stat.Undecided, stat.Alpha, stat.MinEffect*100)
	b.WriteString("CAL-NS: a fixed loop, timed in every slice; figures of rows with different CAL-NS do not compare. LINE-NS: one crossing of a cache line between CPUs.\n")
	shared, over := false, false
	for i := range r.Rows {
		shared = shared || r.Rows[i].Calibration.Shared > 0
		over = over || r.Rows[i].Oversubscribed
	}
	if shared {
		b.WriteString(sharedNote)
	}
	if over {
		b.WriteString("*: more producers than CPUs; such rows measure schedulers as much as rings.\n")
	}
	if r.Machine.Runs < MinRuns {
		fmt.Fprintf(&b, tooFewNote, r.Machine.Runs, MinRuns)
	}
	return b.String()
}
