package netdissect

import (
	"bytes"
	"fmt"
	"time"

	"github.com/google/gopacket"
)

// TimeStyle is how times are written.
type TimeStyle int

// Styles of times.
const (
	TimeOfDay      TimeStyle = iota // 12:34:56.789012
	TimeNone                        // -t
	TimeUnix                        // -tt: seconds since 1970
	TimeSinceLast                   // -ttt
	TimeDate                        // -tttt
	TimeSinceFirst                  // -ttttt: since the first packet
)

// Options are tcpdump's flags that decide how packets look.
type Options struct {
	Link     bool // -e: the Ethernet header
	Verbose  int  // how many -v
	Quiet    bool // -q
	Absolute bool // -S: sequence numbers as they are
	Trusting bool // -K: checksums are not looked at
	Numbered bool // -#
	Time     TimeStyle
	Location *time.Location // of times of day; nil: the process's
	// Dumps of the packet: 1 without the Ethernet header, 2 with it. The first that is
	// chosen is written.
	HexASCII, Hex, ASCII int // -X, -x, -A
}

// Printer writes packets of one capture. One goroutine at a time.
type Printer struct {
	o     Options
	b     bytes.Buffer
	n     int
	ref   time.Time // what times are since
	conns map[conversation]sequence
}

// New makes a printer.
func New(o Options) *Printer {
	if o.Location == nil {
		o.Location = time.Local
	}
	return &Printer{o: o, conns: make(map[conversation]sequence)}
}

// Packet is a packet as text, with a newline at its end; valid until the next call. data
// are the bytes captured of length ones.
func (p *Printer) Packet(at time.Time, data []byte, length int) []byte {
	p.b.Reset()
	p.n++
	if p.o.Numbered {
		p.printf("%5d  ", p.n)
	}
	if len(data) == 0 || length < len(data) {
		p.invalid(len(data), length)
		return p.b.Bytes()
	}
	p.time(at)
	header := p.ethernet(data, length)
	p.dump(data, min(header, len(data)))
	p.printf("\n")
	return p.b.Bytes()
}

// invalid writes lengths that cannot be.
func (p *Printer) invalid(captured, length int) {
	p.printf("[Invalid header:")
	if captured == 0 {
		p.printf(" caplen==0")
	}
	switch {
	case length == 0 && captured == 0:
		p.printf(", len==0")
	case length < captured:
		p.printf(" len(%d) < caplen(%d)", length, captured)
	}
	p.printf("]\n")
}

func (p *Printer) printf(format string, a ...any) { fmt.Fprintf(&p.b, format, a...) }

// truncated says that a header was not captured to its end.
func (p *Printer) truncated(protocol string) { p.printf(" [|%s]", protocol) }

// time writes when a packet was seen.
func (p *Printer) time(at time.Time) {
	const clock, date = "15:04:05.000000", "2006-01-02 15:04:05.000000"
	switch p.o.Time {
	case TimeOfDay:
		p.printf("%s ", at.In(p.o.Location).Format(clock))
	case TimeUnix:
		p.printf("%d.%06d ", at.Unix(), at.Nanosecond()/int(time.Microsecond))
	case TimeDate:
		p.printf("%s ", at.In(p.o.Location).Format(date))
	case TimeSinceLast, TimeSinceFirst:
		if p.ref.IsZero() {
			p.ref = at
		}
		d, sign := at.Truncate(time.Microsecond).Sub(p.ref.Truncate(time.Microsecond)), " "
		if d < 0 {
			d, sign = -d, "-"
		}
		p.printf("%s%s ", sign, time.Time{}.Add(d).Format(clock))
		if p.o.Time == TimeSinceLast {
			p.ref = at
		}
	}
}

// decode decodes a header. Some of gopacket's decoders index past the packet if its
// lengths lie; that is an error as others are.
func decode(layer gopacket.DecodingLayer, data []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoding %v: %v", layer.CanDecode(), r)
		}
	}()
	return layer.DecodeFromBytes(data, gopacket.NilDecodeFeedback)
}
