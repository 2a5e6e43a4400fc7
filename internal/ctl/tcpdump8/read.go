package tcpdump8

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/pcapfilter"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// FileIO are the files and streams of a capture file's reader.
type FileIO struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Open           func(name string) (io.ReadCloser, error)
	Create         func(name string) (io.WriteCloser, error)
}

// RunFile runs tcpdump -r: it shows a capture file, pcap or pcapng, or with -w copies
// packets of it to another. No machine is needed. The exit status is 0, or 1 with a message
// on stderr.
func RunFile(args []string, files FileIO) (exit int) {
	o, err := parse(args)
	if err == nil {
		err = o.readFile(files)
	}
	return tool.Exit("tcpdump", err, files.Stderr)
}

// readFile opens the file, and the one that is written.
func (o *options) readFile(files FileIO) error {
	if err := o.readFilter(files.Open); err != nil {
		return err
	}
	if o.dump > 0 {
		return o.dumpFilter(files.Stdout)
	}
	in := files.Stdin
	if o.read != stdio {
		f, err := files.Open(o.read)
		if err != nil {
			return FileError(o.read, err)
		}
		defer f.Close()
		in = f
	}
	src, err := open(in)
	if err != nil {
		return err
	}
	if src.LinkType() != layers.LinkTypeEthernet {
		return tool.Messagef("packet printing is not supported for link type %v: use -w", src.LinkType())
	}
	filter, err := pcapfilter.NewFilter(o.filter)
	if err != nil {
		return err
	}
	fmt.Fprintf(files.Stderr, "reading from file %s, link-type EN10MB (Ethernet), snapshot length %d\n", o.read, snapLenOf(src))
	if o.write == "" || o.write == stdio {
		return o.copy(src, filter, files.Stdout)
	}
	out, err := files.Create(o.write)
	if err != nil {
		return FileError(o.write, err)
	}
	err = o.copy(src, filter, out)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

// source reads packets of a capture file.
type source interface {
	LinkType() layers.LinkType
	ReadPacketData() (data []byte, ci gopacket.CaptureInfo, err error)
}

// Magic numbers of capture files in the byte order of whoever wrote them.
const (
	magicNg     = 0x0a0d0d0a
	magicMicros = 0xa1b2c3d4
	magicNanos  = 0xa1b23c4d
	magicLen    = 4
)

// open finds out what kind of capture file it is.
func open(in io.Reader) (source, error) {
	b := bufio.NewReaderSize(in, batch)
	head, err := b.Peek(magicLen)
	if err != nil {
		return nil, tool.Messagef("truncated dump file; tried to read %d file header bytes, only got %d", magicLen, len(head))
	}
	little, big := binary.LittleEndian.Uint32(head), binary.BigEndian.Uint32(head)
	var src source
	err = guarded(func() (err error) {
		switch {
		case big == magicNg:
			src, err = pcapgo.NewNgReader(&blockGuard{in: b, order: binary.LittleEndian}, pcapgo.DefaultNgReaderOptions)
		case little == magicMicros || little == magicNanos || big == magicMicros || big == magicNanos:
			src, err = newReader(b)
		default:
			err = errFormat
		}
		return err
	})
	if errors.Is(err, errFormat) {
		return nil, err
	}
	if err != nil {
		return nil, tool.Messagef("bad dump file: %v", err)
	}
	return src, nil
}

// errFormat is a file that is no capture file.
var errFormat = errors.New("unknown file format")

// newReader reads a pcap file. One without a snapshot length, or with one that cannot be,
// gets the largest.
func newReader(in io.Reader) (*pcapgo.Reader, error) {
	r, err := pcapgo.NewReader(in)
	if err == nil && (r.Snaplen() == 0 || r.Snaplen() > bpf.DefaultSnapLen) {
		r.SetSnaplen(bpf.DefaultSnapLen)
	}
	return r, err
}

// snapLenOf is how much of packets a file has at most.
func snapLenOf(src source) int {
	switch src := src.(type) {
	case *pcapgo.Reader:
		return int(src.Snaplen())
	case *pcapgo.NgReader:
		if ifc, err := src.Interface(0); err == nil && ifc.SnapLength != 0 {
			return int(ifc.SnapLength)
		}
	}
	return bpf.DefaultSnapLen
}

// copy writes the packets of a file that the filter accepts.
func (o *options) copy(src source, filter *pcapfilter.Filter, w io.Writer) error {
	out := bufio.NewWriterSize(w, batch)
	epoch := time.Unix(0, 0)
	to, err := o.sink(out, o.iface, epoch)
	if err != nil {
		return err
	}
	var last time.Duration
	var s bpf.Stats
	for o.count == 0 || s.Received < uint64(o.count) {
		var data []byte
		var ci gopacket.CaptureInfo
		if rerr := guarded(func() (err error) { data, ci, err = src.ReadPacketData(); return err }); rerr != nil {
			err = readError(rerr)
			break
		}
		if !filter.Match(data, ci.Length) {
			continue
		}
		s.Received++
		last = ci.Timestamp.Sub(epoch)
		if _, err = to.write(bpf.Packet{Time: last, Len: ci.Length, Data: data[:min(len(data), o.snapLen)]}); err != nil {
			break
		}
	}
	if cerr := to.close(last, s); err == nil {
		err = cerr
	}
	if ferr := out.Flush(); err == nil {
		err = ferr
	}
	return err
}

// readError is what tcpdump says of a file that cannot be read on; nil at its end.
func readError(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return tool.Messagef("pcap_loop: truncated dump file")
	}
	return tool.Messagef("pcap_loop: %v", err)
}
