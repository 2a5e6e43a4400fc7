package client

import "time"

// What a run does (PktgenParams.Mode; pkt-gen -f).
const (
	PktgenModeTx   = "tx"   // send
	PktgenModeRx   = "rx"   // count what is received
	PktgenModePing = "ping" // send, wait for the answer, and tell how long it took
	PktgenModePong = "pong" // send back what is received
)

// What becomes of a frame that the interface refuses (PktgenParams.OnDrop).
const (
	PktgenDropRetry = "retry" // it is sent again until it is taken
	PktgenDropCount = "count" // it is counted and lost
)

// PktgenParams say what to do. The zero value of everything but Interface and Frames is a sensible
// default.
type PktgenParams struct {
	Interface string `json:"interface"`
	// Mode is one of the modes; "" is PktgenModeTx.
	Mode string `json:"mode,omitempty"`
	// Frames end the run: sent, received, or returned. 0 goes on until the client goes away.
	Frames uint64 `json:"frames"`
	// Size is the bytes of a frame without FCS, from 60 (62 with IPv6, 78 for its ping) to the MTU
	// and an Ethernet header; 0 is the least.
	Size int `json:"size"`
	// MinSize makes sizes random: from MinSize up to less than Size; 0 for frames of Size.
	MinSize int `json:"min_size,omitempty"`
	Threads int `json:"threads,omitempty"` // that send; 0 is 1
	// Dst and Src are station addresses, or the first and the last of a range with a '-'
	// between; "" is everybody's, and the interface's own.
	Dst string `json:"dst,omitempty"`
	Src string `json:"src,omitempty"`
	// DstIP and SrcIP are address, or address:port, or two of them with a '-' between, as
	// pkt-gen writes them; "" is pkt-gen's default.
	DstIP string `json:"dst_ip,omitempty"`
	SrcIP string `json:"src_ip,omitempty"`
	IPv6  bool   `json:"ipv6,omitempty"` // DstIP and SrcIP are IPv6
	// RandomDst and RandomSrc draw address and port of each frame anew.
	RandomDst bool `json:"random_dst,omitempty"`
	RandomSrc bool `json:"random_src,omitempty"`
	// Rate is in frames a second, of all threads together; 0 sends as fast as can be.
	Rate float64 `json:"rate,omitempty"`
	// Burst is how many frames a thread sends between two looks at the clock; 0 is pkt-gen's
	// default: 512, or 1 for ping. With a Rate it is at most what 1/300 s has, but at least 1.
	Burst int `json:"burst,omitempty"`
	// Fragments is how many mbufs a frame is in: with more than one the first holds the
	// headers. 0 is 1.
	Fragments int `json:"fragments,omitempty"`
	// Hash gives each flow a hash, by which the interface chooses a queue.
	Hash bool `json:"hash,omitempty"`
	// OnDrop is PktgenDropRetry or PktgenDropCount; "" is PktgenDropRetry.
	OnDrop string `json:"on_drop,omitempty"`
	// Wait is how many seconds the link may take to come up; 0 is 5.
	Wait int `json:"wait,omitempty"`
	// UntilIdle ends PktgenModeRx when nothing was received for a second, once something was.
	UntilIdle bool `json:"until_idle,omitempty"`
	// ReportMS is the milliseconds between reports, 0 for none.
	ReportMS int `json:"report_ms,omitempty"`
}

// PktgenResult is what was done. For frames that were sent, time ends when the hardware has sent the
// last one; for received ones it is from the first to the last.
type PktgenResult struct {
	// Frames were taken by the interface, received, or returned by pong.
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"`
	Size   int    `json:"size"` // bytes of each, on average
	// Batches are bursts that were sent, or looks that found something received.
	Batches uint64 `json:"batches"`
	Refused uint64 `json:"refused"` // by the interface
	// Dropped were lost here: refused and not sent again, or received faster than returned.
	Dropped uint64        `json:"dropped,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns"`
	RTT     *PktgenRTT    `json:"rtt,omitempty"` // of ping
}

// PPS is frames a second.
func (r PktgenResult) PPS() float64 { return float64(r.Frames) / max(r.Elapsed, 1).Seconds() }

// BitsPerSecond counts the bits of frames without FCS, preamble and gap.
func (r PktgenResult) BitsPerSecond() float64 {
	const bitsPerByte = 8
	return float64(r.Bytes) * bitsPerByte / max(r.Elapsed, 1).Seconds()
}

// PktgenRTT is how long answers took. The zero value has none.
type PktgenRTT struct {
	Answers uint64        `json:"answers"`
	Lost    uint64        `json:"lost"` // not answered within 3 seconds
	Min     time.Duration `json:"min_ns"`
	Average time.Duration `json:"avg_ns"`
	Max     time.Duration `json:"max_ns"`
	// Log2[k] answers took 2^k ns or more, and less than 2^(k+1) ns; those of 0 ns are in Log2[0].
	Log2 []uint64 `json:"log2"`
}
