package pktgen8

import (
	"fmt"
	"math"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// framingBits are FCS, preamble and gap of a frame.
const framingBits = 24 * bitsPerByte

// window is how many rates -A looks at.
const window = 15

// text prints as pkt-gen does.
type text struct {
	o       options
	mode    string
	streams tool.IO
	rates   []float64 // the last of them
}

// norm is a number as pkt-gen writes it: three digits and a unit's prefix.
func (t *text) norm(v float64) string {
	const thousand = 1000
	units := [...]string{"", "K", "M", "G", "T"}
	i := 0
	for ; !t.o.plain && v >= thousand && i < len(units)-1; i++ {
		v /= thousand
	}
	return fmt.Sprintf("%.3f %s", v, units[i])
}

// say prints a line of a run that goes on: time and place as pkt-gen has them, with the number
// of the report in place of the line of its source.
func (t *text) say(at time.Duration, where string, number int, format string, a ...any) {
	const turn = 1000 // seconds
	fmt.Fprintf(t.streams.Stderr, "%03d.%06d %s [%d] %s\n", int(at.Seconds())%turn, at%time.Second/time.Microsecond, where, number, fmt.Sprintf(format, a...))
}

// report prints what was done since the last report (main_thread, ping_body).
func (t *text) report(r Report) {
	usec := uint64(max(r.Took/time.Microsecond, 1))
	const million = 1e6
	pps := float64((r.Frames*million + usec/2) / usec)
	bits := float64(r.Bytes) * bitsPerByte
	if t.o.framing {
		bits += float64(r.Frames) * framingBits
	}
	batch := 0.0
	if r.Batches > 0 {
		batch = float64(r.Frames) / float64(r.Batches)
	}
	t.say(r.At, "main_thread", r.Number, "%spps %s(%spkts %sbps in %d usec) %.2f avg_batch",
		t.norm(pps), t.spread(pps), t.norm(float64(r.Frames)), t.norm(million*bits/float64(usec)), usec, batch)
	if r.RTT != nil {
		t.say(r.At, "ping_body", r.Number, "count %d RTT: min %d av %d ns", r.RTT.Answers, r.RTT.Min, r.RTT.Average)
		t.say(r.At, "ping_body", r.Number, "%s", histogram(r.RTT))
	}
	if t.streams.Flush != nil {
		t.streams.Flush()
	}
}

// spread is mean and deviation of the last rates, "" without -A.
func (t *text) spread(pps float64) string {
	if !t.o.stats {
		return ""
	}
	if t.rates = append(t.rates, pps); len(t.rates) > window {
		t.rates = t.rates[1:]
	}
	var mean, dev float64
	for _, r := range t.rates {
		mean += r / float64(len(t.rates))
	}
	for _, r := range t.rates {
		dev += (r - mean) * (r - mean) / float64(len(t.rates))
	}
	return fmt.Sprintf("[avg/std %s/%s pps]", t.norm(mean), t.norm(math.Sqrt(dev)))
}

// histogram is how many answers took how long: the bounds of the first and the last power of
// two, and the count of each.
func histogram(r *client.PktgenRTT) string {
	first := 0
	for first < len(r.Log2)-1 && r.Log2[first] == 0 {
		first++
	}
	s := fmt.Sprintf("k: %d .. %d\n\t", uint64(1)<<first, uint64(1)<<max(len(r.Log2)-1, 0))
	for _, n := range r.Log2[first:] {
		s += fmt.Sprintf(" %5d", n)
	}
	return s
}

// summary prints the result (tx_output), as text or JSON. The error is the writer's.
func (t *text) summary(r Result) error {
	out := t.streams.Stdout
	if t.o.format.JSON {
		return t.json(r)
	}
	if r.RTT != nil {
		if r.Frames > 0 {
			fmt.Fprintf(out, "RTT over %d packets: min %d av %d ns\n", r.RTT.Answers, r.RTT.Min, r.RTT.Average)
		}
		if r.RTT.Answers > 0 {
			fmt.Fprintln(out, histogram(r.RTT))
		}
		if r.RTT.Lost > 0 {
			fmt.Fprintf(out, "%d packets were not answered.\n", r.RTT.Lost)
		}
	}
	word := map[string]string{client.PktgenModeTx: "Sent", client.PktgenModeRx: "Received", client.PktgenModePong: "Returned"}[t.mode]
	switch {
	case word == "":
	case r.Frames == 0:
		fmt.Fprintf(out, "%s nothing.\n", word)
	default:
		elapsed := r.Elapsed.Seconds()
		fmt.Fprintf(out, "%s %d packets %d bytes %d events %d bytes each in %.2f seconds.\n", word, r.Frames, r.Bytes, r.Batches, r.Size, elapsed)
		const never = 1e-6 // pkt-gen's
		if elapsed == 0 {
			elapsed = never
		}
		bits := float64(r.Bytes) * bitsPerByte
		fmt.Fprintf(out, "Speed: %spps Bandwidth: %sbps (raw %sbps). Average batch: %.2f pkts\n",
			t.norm(float64(r.Frames)/elapsed), t.norm(bits/elapsed), t.norm((bits+float64(r.Frames)*framingBits)/elapsed),
			float64(r.Frames)/float64(r.Batches))
	}
	if r.Refused > 0 {
		fmt.Fprintf(out, "Refused by the interface %d times.\n", r.Refused)
	}
	if r.Dropped > 0 {
		fmt.Fprintf(out, "Dropped %d packets.\n", r.Dropped)
	}
	return nil
}

// json prints a result as the control protocol has it.
func (t *text) json(r Result) error {
	j := t.o.format.NewJSON(t.streams.Stdout, "1")
	j.Object("pktgen", func() {
		j.Field("mode", t.mode)
		j.Field("interface", t.o.p.Interface)
		j.Field("frames", r.Frames)
		j.Field("bytes", r.Bytes)
		j.Field("size", r.Size)
		j.Field("batches", r.Batches)
		j.Field("refused", r.Refused)
		j.Field("dropped", r.Dropped)
		j.Field("elapsed_ns", r.Elapsed)
		j.Field("pps", math.Round(r.PPS()))
		j.Field("bps", math.Round(r.BitsPerSecond()))
		if r.RTT != nil {
			j.Field("rtt", r.RTT)
		}
	})
	return j.Close()
}
