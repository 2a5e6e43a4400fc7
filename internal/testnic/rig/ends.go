package rig

import (
	"strings"
	"sync"

	"github.com/ifsim/ifsim/drivers/port"
)

// Console keeps what a machine prints. The zero value is empty. Any goroutine.
type Console struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write is the machine's.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

// String is what was printed so far.
func (c *Console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// FarEnd is bound to the far end of a wire that the test polls: it hears of everything
// and does nothing.
type FarEnd struct{}

var _ port.Client = FarEnd{}

// TxReady does nothing.
func (FarEnd) TxReady(int) {}

// RxReady does nothing.
func (FarEnd) RxReady(int) {}

// LinkChanged does nothing.
func (FarEnd) LinkChanged(port.Link) {}
