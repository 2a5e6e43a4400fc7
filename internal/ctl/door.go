package ctl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// maxClients are served at a time.
	maxClients = 64
	// silentTime is how long a client may keep the machine waiting while others wait for
	// its place.
	silentTime = 100 * time.Millisecond
	// doorTime is how long a client waits for a place before it is refused.
	doorTime = 2 * time.Second
)

// Why a client is not served. With the first two it may try again.
var (
	errBusy    = fmt.Errorf("%d clients are being served already; try again", maxClients)
	errSilent  = fmt.Errorf("nothing was heard for %v while others waited; try again", silentTime)
	errClosing = errors.New("the machine is going down")
)

// guest is a client that is being served.
type guest struct {
	conn net.Conn

	// Guarded by door.mu.
	silent time.Time // since when the machine waits for it; zero: it waits for the machine
	out    bool      // it lost its place
}

// door lets clients in, as many as there are places. When there is none left, a client
// that keeps the machine waiting, with its request or by not taking its reply, loses its
// place to one that comes: so whoever connects and says nothing keeps nobody out.
type door struct {
	wait time.Duration // doorTime; constant

	mu      sync.Mutex
	clients map[*guest]struct{} // guarded by mu; nil once closed
	full    bool                // guarded by mu: somebody waited in vain, and nothing has changed since
	changed chan struct{}       // of one: a place was given back, or a client is waited for
}

func newDoor() *door {
	return &door{wait: doorTime, clients: make(map[*guest]struct{}), changed: make(chan struct{}, 1)}
}

// enter waits for a place. The error says why there is none.
func (d *door) enter(ctx context.Context, conn net.Conn) (*guest, error) {
	c := &guest{conn: conn}
	ctx, cancel := context.WithTimeoutCause(ctx, d.wait, errBusy)
	defer cancel()
	for {
		again, err := d.try(c)
		if err != nil || again == 0 {
			return c, err
		}
		timer := time.NewTimer(again)
		select {
		case <-d.changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return c, d.giveUp(context.Cause(ctx))
		}
		timer.Stop()
	}
}

// giveUp is why nobody waits any longer. Those behind need not wait as long again.
func (d *door) giveUp(cause error) error {
	if !errors.Is(cause, errBusy) {
		return errClosing
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = true
	return errBusy
}

// try takes a place, or says after which time to try again even if nothing changes.
func (d *door) try(c *guest) (again time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clients == nil {
		return 0, errClosing
	}
	for len(d.clients) >= maxClients {
		longest := d.longestSilent()
		if longest == nil && d.full {
			return 0, errBusy
		}
		if longest == nil {
			return d.wait, nil
		}
		if left := silentTime - time.Since(longest.silent); left > 0 {
			return left, nil
		}
		if unread(longest.conn) { // it is the machine that is slow
			longest.silent = time.Now()
			continue
		}
		longest.out = true
		delete(d.clients, longest)
		// What cannot be set is a connection that has failed.
		_ = longest.conn.SetDeadline(time.Unix(0, 1))
	}
	c.silent = time.Now()
	d.clients[c] = struct{}{}
	return 0, nil
}

// longestSilent is the client that the machine waits for longest, nil if it waits for
// none. The lock is held.
func (d *door) longestSilent() (longest *guest) {
	for c := range d.clients {
		if !c.silent.IsZero() && (longest == nil || c.silent.Before(longest.silent)) {
			longest = c
		}
	}
	return longest
}

// await notes that the machine waits for the client, at most until set's deadline, which
// is d away; false if the client has lost its place.
func (d *door) await(c *guest, set func(time.Time) error, limit time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.out || set(time.Now().Add(limit)) != nil {
		return false
	}
	c.silent = time.Now()
	d.signal()
	return true
}

// heard notes that the client waits for the machine; false if it has lost its place.
func (d *door) heard(c *guest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.silent = time.Time{}
	return !c.out
}

// leave gives a place back.
func (d *door) leave(c *guest) {
	d.mu.Lock()
	delete(d.clients, c)
	d.signal()
	d.mu.Unlock()
	c.conn.Close()
}

// signal tells who waits for a place. The lock is held.
func (d *door) signal() {
	d.full = false
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// occupied is how many clients are in.
func (d *door) occupied() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.clients)
}

// close ends the connections of all who are in, and lets nobody in any more; false if it
// is closed.
func (d *door) close() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clients == nil {
		return false
	}
	for c := range d.clients {
		c.conn.Close()
	}
	d.clients = nil
	return true
}

// Clients is how many clients are being served now; any goroutine.
func (s *Server) Clients() int { return s.door.occupied() }
