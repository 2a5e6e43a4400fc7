package pktgen8

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/sysctl"
)

// direction is what of a NIC a run uses.
type direction int

const (
	out direction = iota
	in
	directions
)

// String is what a run in that direction does.
func (d direction) String() string {
	if d == out {
		return "sends"
	}
	return "receives"
}

// directions are those that a mode uses.
func (p *settings) directions() []direction {
	switch p.Mode {
	case client.PktgenModeTx:
		return []direction{out}
	case client.PktgenModeRx:
		return []direction{in}
	}
	return []direction{out, in}
}

// claims are the NICs that runs use: one run for each direction, since what has been sent is
// told by the NIC's account, and two that receive would each count for the other.
type claims struct {
	mu   sync.Mutex
	nics map[*iflib.Ctx]*[directions]bool
}

// claim takes directions of a NIC; all or none. EBUSY, in words: another run has one.
func (c *claims) claim(nic *iflib.Ctx, wanted []direction) (release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.nics[nic]
	if used == nil {
		used = new([directions]bool)
	}
	for _, d := range wanted {
		if used[d] {
			return nil, fmt.Errorf("another pktgen %v: %s", d, sysctl.Strerror(syscall.EBUSY))
		}
	}
	for _, d := range wanted {
		used[d] = true
	}
	if c.nics == nil {
		c.nics = make(map[*iflib.Ctx]*[directions]bool)
	}
	c.nics[nic] = used
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, d := range wanted {
			used[d] = false
		}
		if *used == [directions]bool{} {
			delete(c.nics, nic)
		}
	}, nil
}
