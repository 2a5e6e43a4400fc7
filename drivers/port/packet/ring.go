package packet

import (
	"fmt"
	"math/bits"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
)

// Measures of the ring in bytes.
const (
	ringBytes   = 8 << 20 // loss-free at 440 kpps (spec ports 0.8)
	blockBytes  = 64 << 10
	minSlot     = 2 << 10 // an untagged or tagged frame of MTU 1500
	maxSlot     = 16 << 10
	vlanTagLen  = 4
	slotFixed   = 128 // more than stands before the frame: headers, address, virtio header
	etherHdrLen = port.MinFrame
)

// slotSize returns the size of a slot for frames of an MTU: a power of two.
func slotSize(mtu int) int {
	need := slotFixed + etherHdrLen + vlanTagLen + mtu
	if need >= maxSlot {
		return maxSlot
	}
	return max(minSlot, 1<<bits.Len(uint(need-1)))
}

// ring is a TPACKET_V2 receive ring. The kernel fills slots in order and sets TP_STATUS_USER;
// slots tail..lend are with the client, and storing TP_STATUS_KERNEL gives one back. The
// indices run freely; the receiver moves them, the watcher reads them.
type ring struct {
	mem   []byte
	size  int // of a slot
	slots uint64

	lend atomic.Uint64 // next slot to lend
	tail atomic.Uint64 // oldest slot lent
}

// mapOn makes the ring of a socket.
func (r *ring) mapOn(fd, size int) error {
	req := unix.TpacketReq{
		Block_size: blockBytes, Block_nr: ringBytes / blockBytes,
		Frame_size: uint32(size), Frame_nr: uint32(ringBytes / size),
	}
	if err := unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return fmt.Errorf("making a ring of %d MiB: %w", ringBytes>>20, err)
	}
	mem, err := unix.Mmap(fd, 0, ringBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping the ring: %w", os.NewSyscallError("mmap", err))
	}
	r.mem, r.size, r.slots = mem, size, uint64(ringBytes/size)
	return nil
}

func (r *ring) slot(i uint64) []byte {
	off := int(i&(r.slots-1)) * r.size
	return r.mem[off : off+r.size : off+r.size]
}

// waiting reports whether a frame waits to be lent.
func (r *ring) waiting() (lend uint64, ok bool) {
	lend = r.lend.Load()
	if lend-r.tail.Load() >= r.slots {
		return lend, false
	}
	return lend, loadStatus(r.slot(lend))&unix.TP_STATUS_USER != 0
}

// idle reports whether nothing is lent.
func (r *ring) idle() bool { return r.tail.Load() == r.lend.Load() }

func (r *ring) unmap() error {
	if r.mem == nil {
		return nil
	}
	mem := r.mem
	r.mem, r.slots = nil, 0
	return os.NewSyscallError("munmap", unix.Munmap(mem))
}
