package hw

import "github.com/ifsim/ifsim/internal/kern"

// Faults are the fail points of one device, debug.fail_point.hw.<name>.*: off unless set,
// one atomic load each then. Values are in the fields' comments.
type Faults struct {
	LostIntr           *kern.FailPoint // an interrupt message is not sent
	StuckHead          *kern.FailPoint // a transmit queue does not take its next packet
	DMAError           *kern.FailPoint // an access of the device is refused
	LateCompletion     *kern.FailPoint // a finished packet is reported after return(ms)
	RepeatedCompletion *kern.FailPoint // a packet is reported twice
	MissingCompletion  *kern.FailPoint // a packet is finished but never reported
	CorruptWriteback   *kern.FailPoint // return(mask) is XORed into a write-back; 0: all bits
	LinkFlap           *kern.FailPoint // the link goes down for return(ms)
	EEPROM             *kern.FailPoint // return(mask) is XORed into a word read from the NVM; 0: all bits
}

// NewFaults makes the fail points of the device called name.
func NewFaults(k *kern.Kernel, name string) *Faults {
	p := func(what string) *kern.FailPoint { return k.FailPoint("hw." + name + "." + what) }
	return &Faults{
		LostIntr: p("lost_intr"), StuckHead: p("stuck_head"), DMAError: p("dma_error"),
		LateCompletion: p("late_completion"), RepeatedCompletion: p("repeated_completion"),
		MissingCompletion: p("missing_completion"), CorruptWriteback: p("corrupt_writeback"),
		LinkFlap: p("link_flap"), EEPROM: p("eeprom"),
	}
}

// completions reports whether a fail point of finished packets is set.
func (f *Faults) completions() bool {
	return f.LateCompletion.Armed() || f.RepeatedCompletion.Armed() || f.MissingCompletion.Armed()
}

// LoseIntr reports whether the interrupt that is about to be sent is lost.
func (f *Faults) LoseIntr() bool {
	_, hit := f.LostIntr.Eval()
	return hit
}

// Writeback passes a word that is about to be written back through the fail point.
func (f *Faults) Writeback(w uint64) uint64 {
	if v, hit := f.CorruptWriteback.Eval(); hit {
		return corrupt(w, v)
	}
	return w
}

// NVMWord passes a word read from the NVM through the fail point.
func (f *Faults) NVMWord(w uint16) uint16 {
	if v, hit := f.EEPROM.Eval(); hit {
		return uint16(corrupt(uint64(w), v))
	}
	return w
}

// corrupt flips the bits of mask, all of them for 0.
func corrupt(w uint64, mask int) uint64 {
	if mask == 0 {
		return ^w
	}
	return w ^ uint64(mask)
}
