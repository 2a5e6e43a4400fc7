package ctl

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// crowd takes every place of a door; all but the first are served for ever.
func crowd(t *testing.T, d *door) (first *client, far net.Conn) {
	t.Helper()
	for i := range maxClients {
		near, other := net.Pipe()
		t.Cleanup(func() { near.Close(); other.Close() })
		c, err := d.enter(context.Background(), near)
		must(t, err)
		if i == 0 {
			first, far = c, other
		} else if !d.heard(c) {
			t.Fatalf("client %d lost its place", i)
		}
	}
	return first, far
}

func TestASilentClientLosesItsPlaceToOneThatComes(t *testing.T) {
	d := newDoor()
	first, _ := crowd(t, d)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	_, err := d.enter(context.Background(), near)
	must(t, err)
	if d.heard(first) {
		t.Error("the silent client still has its place")
	}
	if d.await(first, first.conn.SetWriteDeadline, time.Hour) {
		t.Error("a client without a place may go on")
	}
	if _, err := first.conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("its connection: %v", err)
	}
	if len(d.clients) != maxClients {
		t.Errorf("%d places taken", len(d.clients))
	}
}

func TestWithoutAPlaceAClientIsToldToComeBack(t *testing.T) {
	d := newDoor()
	d.wait = time.Millisecond
	first, _ := crowd(t, d)
	d.heard(first)
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	if _, err := d.enter(context.Background(), near); err != errBusy || err.Error() != "64 clients are being served already; try again" {
		t.Errorf("%v", err)
	}
	// Those behind know it at once, until something changes.
	d.wait = time.Hour
	if _, err := d.enter(context.Background(), near); err != errBusy {
		t.Errorf("%v", err)
	}
	entered := make(chan error)
	go func() {
		d.leave(first)
		_, err := d.enter(context.Background(), near)
		entered <- err
	}()
	must(t, <-entered)
}

func TestAClosedDoorLetsNobodyIn(t *testing.T) {
	d := newDoor()
	first, far := crowd(t, d)
	d.heard(first)
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan error)
	near, other := net.Pipe()
	defer near.Close()
	defer other.Close()
	go func() {
		_, err := d.enter(ctx, near)
		waiting <- err
	}()
	if !d.close() || d.close() {
		t.Error("the door does not close once")
	}
	cancel()
	if err := <-waiting; err != errClosing {
		t.Errorf("who waits is told %v", err)
	}
	if _, err := d.enter(context.Background(), near); err != errClosing {
		t.Errorf("who comes is told %v", err)
	}
	if _, err := far.Read(make([]byte, 1)); err == nil {
		t.Error("a connection was left open")
	}
}
