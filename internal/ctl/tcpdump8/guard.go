package tcpdump8

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// A block of a pcapng file: its type, its length, which counts these too, a body, and the
// length again. A section's header begins its body with a number that tells the byte order.
const (
	blockHead  = 12 // as much as a section's byte order needs
	sectionBOM = 0x1a2b3c4d
	maxBlock   = 16 << 20 // the largest that is read; libpcap's limit, too

	blockPacket   = 2
	blockSimple   = 3
	blockEnhanced = 6
	packetHead    = 24 // of a block with a packet: up to the length captured
	packetFrame   = 32 // what such a block has beside the packet
	simpleFrame   = 16
)

// blockGuard passes a pcapng file on, but no block that is larger than one can be, nor one
// with a packet that is larger than the block: pcapgo would make room for it without
// looking.
type blockGuard struct {
	in    io.Reader
	order binary.ByteOrder
	head  []byte // of the block, not passed on yet
	left  uint32 // bytes of the block behind
	buf   [packetHead]byte
}

func (g *blockGuard) Read(b []byte) (int, error) {
	if len(g.head) == 0 && g.left == 0 {
		if err := g.next(); err != nil {
			return 0, err
		}
	}
	if len(g.head) > 0 {
		n := copy(b, g.head)
		g.head = g.head[n:]
		return n, nil
	}
	n, err := g.in.Read(b[:min(uint32(len(b)), g.left)])
	g.left -= uint32(n)
	return n, err
}

// next reads the beginning of a block.
func (g *blockGuard) next() error {
	n, err := io.ReadFull(g.in, g.buf[:blockHead])
	if err != nil {
		g.head = g.buf[:n] // what there is, for pcapgo to complain of
		if n > 0 {
			return nil
		}
		return err
	}
	if binary.LittleEndian.Uint32(g.buf[:]) == magicNg {
		g.order = binary.LittleEndian
		if binary.BigEndian.Uint32(g.buf[8:]) == sectionBOM {
			g.order = binary.BigEndian
		}
	}
	length := g.order.Uint32(g.buf[4:])
	if length < blockHead || length > maxBlock {
		return tool.Messagef("a block of %d bytes", length)
	}
	g.head, g.left = g.buf[:blockHead], length-blockHead
	switch g.order.Uint32(g.buf[:]) {
	case blockPacket, blockEnhanced:
		return g.packet(length)
	case blockSimple:
		if n := g.order.Uint32(g.buf[8:]); length < simpleFrame || n > length-simpleFrame {
			return tool.Messagef("%d bytes of a packet in a block of %d", n, length)
		}
	}
	return nil
}

// packet reads on to the length of the packet in a block.
func (g *blockGuard) packet(length uint32) error {
	if length < packetFrame {
		return tool.Messagef("a packet's block of %d bytes", length)
	}
	n, err := io.ReadFull(g.in, g.buf[blockHead:])
	g.head, g.left = g.buf[:blockHead+n], length-packetHead
	if err != nil {
		g.left = 0 // the file ends here
		return nil
	}
	if n := g.order.Uint32(g.buf[packetHead-4:]); n > length-packetFrame {
		return tool.Messagef("%d bytes of a packet in a block of %d", n, length)
	}
	return nil
}

// guarded makes errors of the panics of pcapgo's readers, which believe what files say.
func guarded(read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("contradicts itself: %v", r)
		}
	}()
	return read()
}
