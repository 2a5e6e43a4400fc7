package packet

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is struct mmsghdr.
type mmsghdr struct {
	hdr unix.Msghdr
	len uint32
}

// point makes iovs the content of the message.
func (m *mmsghdr) point(iovs []unix.Iovec) {
	m.hdr.Iov = unsafe.SliceData(iovs)
	m.hdr.SetIovlen(len(iovs))
}

// appendSegs appends the pieces of a frame, which is not copied.
func appendSegs(iovs []unix.Iovec, segs [][]byte) []unix.Iovec {
	for _, s := range segs {
		v := unix.Iovec{Base: unsafe.SliceData(s)}
		v.SetLen(len(s))
		iovs = append(iovs, v)
	}
	return iovs
}

// sendBatch sends messages until one is refused. An error is that of message n. The call
// does not block, so it is made without telling Go's scheduler (spec ports 0.2).
func sendBatch(fd int, msgs []mmsghdr) (n int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(msgs))), uintptr(len(msgs)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

// recvWhole receives a message and returns its whole length, also beyond buf.
func recvWhole(fd int, buf []byte) (n int, errno unix.Errno) {
	r, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), 0
}

// loadStatus and storeStatus access the word by which a slot changes hands.
func loadStatus(slot []byte) uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(unsafe.SliceData(slot))))
}

func storeStatus(slot []byte, v uint32) {
	atomic.StoreUint32((*uint32)(unsafe.Pointer(unsafe.SliceData(slot))), v)
}
