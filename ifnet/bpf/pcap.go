package bpf

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// PcapWriter writes packets to a capture file with nanosecond time stamps. One
// goroutine at a time.
type PcapWriter struct {
	w    *pcapgo.Writer
	out  *output
	boot time.Time
}

// output remembers the error of a write, which pcapgo reports as text only.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil {
		o.err = err
	}
	return n, err
}

// cause is the error of the last write or, if that was not it, what pcapgo says.
func (o *output) cause(err error) error {
	if o.err != nil {
		return o.err
	}
	return err
}

// NewPcapWriter writes the header of an Ethernet capture (DLT_EN10MB). boot is the time
// of day at uptime 0.
func NewPcapWriter(w io.Writer, snaplen int, boot time.Time) (*PcapWriter, error) {
	out := &output{w: w}
	p := &PcapWriter{w: pcapgo.NewWriterNanos(out), out: out, boot: boot}
	if err := p.w.WriteFileHeader(uint32(snaplen), layers.LinkTypeEthernet); err != nil {
		return nil, fmt.Errorf("writing the header of a capture: %w", p.out.cause(err))
	}
	return p, nil
}

// Write writes one packet.
func (p *PcapWriter) Write(pkt Packet) error {
	ci := gopacket.CaptureInfo{Timestamp: p.boot.Add(pkt.Time), CaptureLength: len(pkt.Data), Length: pkt.Len}
	if err := p.w.WritePacket(ci, pkt.Data); err != nil {
		return fmt.Errorf("writing a packet to a capture: %w", p.out.cause(err))
	}
	return nil
}

// Drain writes everything that l has stored and returns how many packets were written.
func (p *PcapWriter) Drain(l *Listener) (n int, err error) {
	l.Read(func(pkt Packet) bool {
		if err = p.Write(pkt); err != nil {
			return false
		}
		n++
		return true
	})
	return n, err
}

// isGone reports whether the interface has been detached.
func isGone(err error) bool { return errors.Is(err, syscall.ENXIO) }
