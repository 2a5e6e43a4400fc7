package altqbench

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// columns are the headings of the table.
var columns = []string{"DISCIPLINE", "SCENARIO", "CLASS", "WHAT", "EXPECTED", "MEASURED", "DEVIATION", "VERDICT"}

// WriteTable writes the result for people.
func (r *Result) WriteTable(w io.Writer) error {
	where := ""
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Where != where {
			if where != "" {
				fmt.Fprintln(tw)
			}
			where = row.Where
			fmt.Fprintf(tw, "%s\n%s\n", where, strings.Join(columns, "\t"))
		}
		fmt.Fprintln(tw, strings.Join(row.cells(), "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, r.summary())
	return err
}

// cells are the row's columns as text.
func (r *Row) cells() []string {
	c := []string{r.Discipline, r.Scenario, r.Class, string(r.Quantity)}
	if r.Verdict == VerdictSkipped {
		return append(c, "-", "-", "-", string(r.Verdict))
	}
	return append(c, r.Expected.text(), number(r.Measured), r.deviation(), string(r.Verdict))
}

// number has three digits behind the point, or none if none are needed.
func number(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// text is the number with what it may be off by, or the bounds.
func (e Range) text() string {
	switch {
	case e.Theory != nil && e.Low == e.High:
		return number(*e.Theory)
	case e.Theory != nil && short(*e.Theory-e.Low) == short(e.High-*e.Theory):
		return fmt.Sprintf("%s ± %s", number(*e.Theory), short(e.High-*e.Theory))
	case e.Theory != nil:
		return fmt.Sprintf("%s -%s +%s", number(*e.Theory), short(*e.Theory-e.Low), short(e.High-*e.Theory))
	case e.Low <= 0:
		return "at most " + number(e.High)
	}
	return fmt.Sprintf("%s to %s", number(e.Low), number(e.High))
}

// short has two digits.
func short(v float64) string { return fmt.Sprintf("%.2g", v) }

// deviation is a share of the number, or the difference if that is 0.
func (r *Row) deviation() string {
	switch {
	case r.Deviation == nil:
		return "-"
	case *r.Expected.Theory == 0:
		return fmt.Sprintf("%+.3g", *r.Deviation)
	}
	const percent = 100
	return fmt.Sprintf("%+.2f%%", *r.Deviation / *r.Expected.Theory * percent)
}

// summary is the line below the table.
func (r *Result) summary() string {
	text := ""
	if r.Skipped != "" {
		text = fmt.Sprintf("\nNot measured on wires: %s.\n", r.Skipped)
	}
	done := 0
	for i := range r.Rows {
		if r.Rows[i].Verdict != VerdictSkipped {
			done++
		}
	}
	if done < len(r.Rows) && r.Skipped == "" {
		text = "\nSkipped: the host stalled so much that flows could not get what they offer.\n"
	}
	return fmt.Sprintf("%s\n%d of %d figures are as expected.\n", text, done-r.Off(), done)
}
