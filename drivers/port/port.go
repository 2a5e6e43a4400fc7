package port

// MaxQueues bounds the transmit queue numbers that a client may use with a port.
const MaxQueues = 256

// Limits of a frame on any port, in bytes without FCS.
const (
	// MinFrame is an Ethernet header; a shorter frame cannot be sent
	// (spec ports 4: EINVAL). Padding to 60 bytes is the NIC's business.
	MinFrame = 14
	// MaxFrame is more than the largest frame of any NIC modelled (16 KiB).
	MaxFrame = 16 << 10
)

// Frame is one frame to be sent: a gather list in DMA memory with the exact bytes of
// the wire, without FCS. It and the memory it names belong to the port from the Send
// that took it until Completed reports it; a copying port completes at once.
type Frame struct {
	Segs [][]byte
}

// Len returns the length of the frame in bytes.
func (f *Frame) Len() int {
	n := 0
	for _, s := range f.Segs {
		n += len(s)
	}
	return n
}

// RxFrame is a received frame, lent by the port until Release. Data is the port's
// memory: it may be read, not written or kept.
type RxFrame struct {
	Data      []byte // the bytes that were captured, without FCS
	Len       int    // length on the wire; larger than len(Data) if Truncated
	Truncated bool   // the port could not keep the whole frame

	VLANValid bool   // a tag was taken out of Data by the host's kernel and stands in TCI
	TPIDValid bool   // TPID holds the tag's type; else it is 0x8100
	TCI, TPID uint16 // host byte order

	NeedCsum  bool   // the checksum at CsumStart+CsumOff covers only the pseudo header
	CsumStart uint16 // first byte summed, from the start of Data
	CsumOff   uint16 // where the sum goes, from CsumStart

	GSOType uint8  // a super-frame to be cut: VIRTIO_NET_HDR_GSO_*, 0 for none
	GSOSize uint16 // payload bytes of each segment

	Tstamp    int64 // arrival in ns since the epoch, 0 if the port takes none
	Hash      uint32
	HashValid bool
}

// Link is the state of the medium.
type Link struct {
	Up         bool
	Speed      int // Mbit/s; 0: the medium sets no limit, the NIC runs at its own
	FullDuplex bool
}

// Client is what a NIC gives a port to be called back by. The methods are called
// without any lock of the port, from any goroutine, also from within a call of the
// client into this port or its peer; they may come more often than needed. No call
// is in progress or begins once Close has returned.
type Client interface {
	// TxReady says that queue q, whose last Send was short, may go on. It can arrive
	// before that Send has returned.
	TxReady(q int)
	// RxReady says that frames have been put into receive queue q. It comes after
	// every such batch: a client that is not ready for them may forget it and call
	// Recv when it is.
	RxReady(q int)
	// LinkChanged reports the link as it is when called. Calls of two goroutines can
	// overtake each other: Port.Link is the truth.
	LinkChanged(Link)
}

// Port is a place that frames leave through and arrive at. Each queue has one user at
// a time on each side (one sender per q; one receiver per q); different queues, and
// the two sides of one, may be used by different goroutines.
type Port interface {
	// Name returns the specification that the port was opened with, "pair:wire0".
	Name() string
	// Bind gives the port its client, once (EBUSY again, ENXIO after Close). It calls
	// LinkChanged, perhaps of the peer's client too, before it returns: hold no lock.
	Bind(c Client) error
	// Send takes the first n frames of the batch for queue q, in order. n short of the
	// batch means full: the caller keeps the rest and waits for TxReady(q). Frames that
	// can never be sent (too long, link down) are taken, completed and counted.
	Send(q int, frames []Frame) (n int)
	// Completed returns how many frames of queue q are done since the last call, in
	// the order of sending, whether sent or refused.
	Completed(q int) int
	// TakeErrors returns how many frames of queue q were refused for good since the
	// last call: the NIC's transmit errors.
	TakeErrors(q int) int
	// Recv lends up to len(frames) frames of receive queue q, oldest first, and
	// returns how many. A queue that the port does not have is empty.
	Recv(q int, frames []RxFrame) int
	// Release gives back the n oldest lent frames of queue q. Giving back more than
	// were lent panics: it is a broken invariant of the client.
	Release(q int, n int)
	// Link returns the state of the medium now.
	Link() Link
	// Stats returns the counters since the port was opened.
	Stats() Stats
	// Close ends the port: nothing is sent or received any more. It waits for client
	// calls in progress, so it must not be called from one, nor with a lock held that
	// one takes. Closing again does nothing.
	Close() error
}

// Immediate is a port that is done with a frame when the Send that takes it returns,
// because it copies or discards it. Its client may ask for the result at once.
type Immediate interface {
	Port
	// SendNow is Send, Completed and TakeErrors in one: it takes the first n frames of
	// the batch, which are done, bad of them refused for good. Completed and TakeErrors
	// do not report these again.
	SendNow(q int, frames []Frame) (n, bad int)
}

// Discarder is a port that looks at no byte of a frame and always has room: its client
// need not collect the bytes.
type Discarder interface {
	Immediate
	// Discard is SendNow of frames of legal length, together so many bytes long. It
	// reports false, and has taken nothing, while the link is down.
	Discard(q, frames, bytes int) bool
}
