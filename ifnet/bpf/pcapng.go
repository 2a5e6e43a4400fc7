package bpf

import (
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// NgInterface describes what a pcapng file was captured on.
type NgInterface struct {
	Name    string
	SnapLen int
	Filter  string    // expression; empty: none
	Boot    time.Time // time of day at uptime 0
}

// NgWriter writes packets to a pcapng capture file with nanosecond time stamps: a section,
// an Ethernet interface, the packets, and with Close the counts. One goroutine at a time.
// Directions are not kept, as pcapgo writes no options of packets.
type NgWriter struct {
	w   *pcapgo.NgWriter
	out *output
	ifc NgInterface
}

// NewNgWriter writes the beginning of a capture.
func NewNgWriter(w io.Writer, ifc NgInterface) (*NgWriter, error) {
	out := &output{w: w}
	description := pcapgo.NgInterface{Name: ifc.Name, Filter: ifc.Filter, OS: "FreeBSD", LinkType: layers.LinkTypeEthernet, SnapLength: uint32(ifc.SnapLen)}
	section := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{OS: "FreeBSD", Application: "ifsim"}}
	ng, err := pcapgo.NewNgWriterInterface(out, description, section)
	n := &NgWriter{w: ng, out: out, ifc: ifc}
	if err == nil {
		err = ng.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("writing the header of a capture: %w", out.cause(err))
	}
	return n, nil
}

// Write writes one packet, which may stay in a buffer until Flush.
func (n *NgWriter) Write(pkt Packet) error {
	ci := gopacket.CaptureInfo{Timestamp: n.ifc.Boot.Add(pkt.Time), CaptureLength: len(pkt.Data), Length: pkt.Len}
	if err := n.w.WritePacket(ci, pkt.Data); err != nil {
		return fmt.Errorf("writing a packet to a capture: %w", n.out.cause(err))
	}
	return nil
}

// Flush writes out what is in the buffer.
func (n *NgWriter) Flush() error {
	if err := n.w.Flush(); err != nil {
		return fmt.Errorf("writing a capture: %w", n.out.cause(err))
	}
	return nil
}

// Close ends the capture with its counts; what is written to stays open.
func (n *NgWriter) Close(at time.Duration, s Stats) error {
	stats := pcapgo.NgInterfaceStatistics{LastUpdate: n.ifc.Boot.Add(at), StartTime: n.ifc.Boot, PacketsReceived: s.Received, PacketsDropped: s.Dropped}
	if err := n.w.WriteInterfaceStats(0, stats); err != nil {
		return fmt.Errorf("writing the counts of a capture: %w", n.out.cause(err))
	}
	return n.Flush()
}
