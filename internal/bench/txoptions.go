package bench

import (
	"fmt"
	"runtime"
	"slices"
)

// OnDrop says what a producer does with a packet that Transmit refused.
type OnDrop string

// The two behaviours of a producer.
const (
	DropPacket  OnDrop = "drop"  // open loop: on to the next packet
	RetryPacket OnDrop = "retry" // closed loop: the same packet again, until it is taken
)

// TxOptions describe a run of the transmit experiment.
type TxOptions struct {
	Options

	Producers     []int    // producer counts; nil is 1, 2, 4, ... up to the number of CPUs
	Oversubscribe bool     // adds 8 and 16 producers
	OnDrop        []OnDrop // nil is both
}

// TxDriver is the default driver of the transmit experiment.
const TxDriver = "em"

// maxProducers bounds the number of senders.
const maxProducers = 64

// oversubscribed are the producer counts that Oversubscribe adds.
var oversubscribed = []int{8, 16}

// normalize fills the defaults in and checks the rest.
func (o *TxOptions) normalize() error {
	cpus := runtime.NumCPU()
	if len(o.Producers) == 0 {
		for n := 1; n <= cpus; n *= 2 {
			o.Producers = append(o.Producers, n)
		}
	}
	if o.Oversubscribe {
		o.Producers = append(slices.Clone(o.Producers), oversubscribed...)
	}
	slices.Sort(o.Producers)
	o.Producers = slices.Compact(o.Producers)
	if o.Producers[0] < 1 || o.Producers[len(o.Producers)-1] > maxProducers {
		return fmt.Errorf("producers must be 1 to %d", maxProducers)
	}
	if len(o.OnDrop) == 0 {
		o.OnDrop = []OnDrop{DropPacket, RetryPacket}
	}
	for _, d := range o.OnDrop {
		if d != DropPacket && d != RetryPacket {
			return fmt.Errorf("on-drop %q is neither %s nor %s", d, DropPacket, RetryPacket)
		}
	}
	return o.Options.normalize(TxDriver, 1)
}
