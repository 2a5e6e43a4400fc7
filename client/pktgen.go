package client

import "time"

// PktgenParams say what to send.
type PktgenParams struct {
	Interface string `json:"interface"`
	Frames    uint64 `json:"frames"`
	// Size is the bytes of a frame without FCS, from 60 to the MTU and an Ethernet header.
	Size    int `json:"size"`
	Threads int `json:"threads,omitempty"` // that send; 0 is 1
	// Dst is the destination's address, "" for everybody's.
	Dst string `json:"dst,omitempty"`
	// Rate is in frames a second, of all threads together; 0 sends as fast as can be.
	Rate float64 `json:"rate,omitempty"`
}

// PktgenResult is what was sent. The time ends when the hardware has sent the last frame.
type PktgenResult struct {
	Frames  uint64        `json:"frames"` // taken by the interface
	Size    int           `json:"size"`
	Refused uint64        `json:"refused"` // and sent again
	Elapsed time.Duration `json:"elapsed_ns"`
}

// PPS is frames a second.
func (r PktgenResult) PPS() float64 { return float64(r.Frames) / max(r.Elapsed, 1).Seconds() }

// BitsPerSecond counts the bits of frames without FCS, preamble and gap.
func (r PktgenResult) BitsPerSecond() float64 {
	const bitsPerByte = 8
	return r.PPS() * float64(r.Size) * bitsPerByte
}
