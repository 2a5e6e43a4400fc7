package altqbench

import (
	"encoding/json"
	"io"
	"math"
	"time"
)

// Result is what was compared, and how throughput went over time.
type Result struct {
	Rows   []Row   `json:"rows"`
	Panels []Panel `json:"panels"`
	// Skipped says why nothing was measured on wires, "" if it was.
	Skipped string `json:"skipped,omitempty"`
}

// Verdict says whether a figure is as expected.
type Verdict string

// Verdicts.
const (
	VerdictOK      Verdict = "ok"
	VerdictOff     Verdict = "OFF"
	VerdictSkipped Verdict = "skipped"
)

// Simulated is where rows of simulated links are from.
const Simulated = "simulated"

// Row is one figure.
type Row struct {
	Where      string   `json:"where"`      // Simulated, or NIC and path: "em0 prefer_mpring=1"
	Discipline string   `json:"discipline"` // as pf.conf writes it
	Scenario   string   `json:"scenario"`
	Class      string   `json:"class"`
	Quantity   Quantity `json:"quantity"`
	Expected   Range    `json:"expected"`
	Measured   float64  `json:"measured"`
	// Deviation is Measured less what theory says, where it says a number.
	Deviation *float64 `json:"deviation,omitempty"`
	Verdict   Verdict  `json:"verdict"`
}

// Quantity is what a figure is, with its unit.
type Quantity string

// Quantities.
const (
	Rate       Quantity = "rate Mb/s"     // of frames without FCS
	Granted    Quantity = "granted Mb/s"  // what arrived, and the tokens that were lost while the host stalled
	Lost       Quantity = "lost %"        // of the frames offered
	MeanWait   Quantity = "mean wait ms"  // from being queued to being handed to the driver
	Longest    Quantity = "max wait ms"   // the longest of these waits
	RedAverage Quantity = "RED average"   // packets
	Above      Quantity = "bytes above"   // at most, at any time, of what the rate allows
	Frames     Quantity = "frames"        // as a NIC's driver has them
	Differing  Quantity = "frames differ" // between those who count the same frames
	ByPolicy   Quantity = "policy drops"  // frames that RED, RIO or CoDel chose to drop
	DifferBy   Quantity = "bytes differ"  // between ALTQ and peer
)

// Range is what is expected: a number with what it may be off by, or two bounds.
type Range struct {
	Theory *float64 `json:"theory,omitempty"`
	Low    float64  `json:"low"`
	High   float64  `json:"high"`
}

// within is a number that may be off by as much.
func within(theory, by float64) Range { return Range{&theory, theory - by, theory + by} }

// near is a number that may be off by a share of it.
func near(theory, share float64) Range { return within(theory, theory*share) }

// between has no number.
func between(low, high float64) Range { return Range{nil, low, high} }

// compare completes a row.
func (r Row) compare() Row {
	r.Verdict = VerdictOff
	if r.Expected.Low <= r.Measured && r.Measured <= r.Expected.High {
		r.Verdict = VerdictOK
	}
	if r.Expected.Theory != nil {
		d := r.Measured - *r.Expected.Theory
		r.Deviation = &d
	}
	return r
}

// Off is how many figures are not as expected.
func (r *Result) Off() (n int) {
	for i := range r.Rows {
		if r.Rows[i].Verdict == VerdictOff {
			n++
		}
	}
	return n
}

// add appends what another part has.
func (r *Result) add(part Result) {
	r.Rows = append(r.Rows, part.Rows...)
	r.Panels = append(r.Panels, part.Panels...)
	r.Skipped = part.Skipped
}

// WriteJSON writes the result as one JSON object.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Panel is the throughput of some classes over time.
type Panel struct {
	Where  string        `json:"where"`
	Title  string        `json:"title"` // the scenario
	Bin    time.Duration `json:"bin_ns"`
	Series []Series      `json:"series"`
}

// Series is one class's throughput in each bin.
type Series struct {
	Class string    `json:"class"`
	Mbps  []float64 `json:"mbps"`
}

// bitsPerByte and mega turn bytes a second into Mb/s.
const (
	bitsPerByte = 8
	mega        = 1e6
)

// mbps is the rate of so many bytes in a time.
func mbps(bytes float64, d time.Duration) float64 {
	if d <= 0 {
		return math.NaN()
	}
	return bytes * bitsPerByte / mega / d.Seconds()
}
