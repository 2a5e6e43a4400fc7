package pair_test

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client records what a port tells it.
type client struct {
	mu     sync.Mutex
	tx     []int
	links  []bool
	rx     atomic.Int64
	onRx   func()
	wakeTx chan struct{}
}

func newClient() *client { return &client{wakeTx: make(chan struct{}, 1)} }

func (c *client) TxReady(q int) {
	c.mu.Lock()
	c.tx = append(c.tx, q)
	c.mu.Unlock()
	select {
	case c.wakeTx <- struct{}{}:
	default:
	}
}

func (c *client) RxReady(int) {
	c.rx.Add(1)
	if c.onRx != nil {
		c.onRx()
	}
}

func (c *client) LinkChanged(l port.Link) {
	c.mu.Lock()
	c.links = append(c.links, l.Up)
	c.mu.Unlock()
}

func (c *client) kicked() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tx
	c.tx = nil
	return t
}

func (c *client) linkEvents() []bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.links
	c.links = nil
	return l
}

func open(t testing.TB, f *port.Fabric, spec string) port.Port {
	t.Helper()
	p, err := f.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func bind(t testing.TB, p port.Port) *client {
	t.Helper()
	c := newClient()
	if err := p.Bind(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// wired returns two bound ends of a new wire.
func wired(t testing.TB, spec string) (a, b port.Port, ca, cb *client) {
	t.Helper()
	f := port.NewFabric(pair.Kind())
	a, b = open(t, f, spec), open(t, f, spec)
	return a, b, bind(t, a), bind(t, b)
}

// numbered returns a frame of n bytes in two segments that carries seq.
func numbered(seq uint64, n int) port.Frame {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(seq) ^ byte(i)
	}
	binary.LittleEndian.PutUint64(data, seq)
	return port.Frame{Segs: [][]byte{data[:10], data[10:]}}
}

func batch(n, size int) []port.Frame {
	fs := make([]port.Frame, n)
	for i := range fs {
		fs[i] = numbered(uint64(i), size)
	}
	return fs
}
