package ctl

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// crowd takes every place of a door; all but the first are served for ever.
func crowd(t *testing.T, d *door) (first *guest, far net.Conn) {
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

func TestAClientThatHasSpokenKeepsItsPlaceUntilItIsHeard(t *testing.T) {
	d := newDoor()
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	must(t, err)
	defer ln.Close()
	far, err := net.Dial("unix", ln.Addr().String())
	must(t, err)
	defer far.Close()
	near, err := ln.Accept()
	must(t, err)
	defer near.Close()
	spoken, err := d.enter(context.Background(), near)
	must(t, err)
	write(far, "{")

	for range maxClients - 1 {
		c := &guest{conn: near}
		d.clients[c] = struct{}{}
	}
	spoken.silent = time.Now().Add(-time.Hour)
	again, err := d.try(&guest{conn: near})
	if err != nil || again <= 0 || again > silentTime || !d.heard(spoken) {
		t.Errorf("try again after %v, %v; out %v", again, err, spoken.out)
	}
	// What has been read does not count.
	_, err = near.Read(make([]byte, 1))
	must(t, err)
	spoken.silent = time.Now().Add(-time.Hour)
	if again, err := d.try(&guest{conn: near}); again != 0 || err != nil || d.heard(spoken) {
		t.Errorf("try again after %v, %v; out %v", again, err, spoken.out)
	}
}

func TestAClientWithoutAPlaceIsToldThatItMayComeBack(t *testing.T) {
	s := serve(t, "", alone)
	first, _ := crowd(t, s.door)
	s.door.heard(first)
	s.door.mu.Lock()
	s.door.full = true
	s.door.mu.Unlock()
	want := `{"version":1,"exit":1,"error":"64 clients are being served already; try again","again":true}` + "\n"
	if got := s.raw(t, []byte("{}\n")); got != want {
		t.Errorf("%s", got)
	}
	s.door.leave(first)
	if r := s.ask(t, Request{Command: CommandSysctl, Args: []string{"-n", "kern.ostype"}}); string(r.Stdout) != "FreeBSD\n" {
		t.Errorf("%q %q", r.Stdout, r.Error)
	}
}

func TestDoComesBackWhileTheMachineIsBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	must(t, err)
	defer ln.Close()
	served := make(chan int)
	go func() {
		n := 0
		defer func() { served <- n }()
		for _, reply := range []Reply{{Error: "busy", Again: true}, {Error: "busy", Again: true}, {Exit: 7}} {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			n++
			if !reply.Again {
				_, _ = readLine(conn)
			}
			_, _ = conn.Write(encode(reply))
			conn.Close()
		}
	}()
	if r, err := Do(context.Background(), path, Request{Command: CommandDmesg}); err != nil || r.Exit != 7 || r.Error != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if n := <-served; n != 3 {
		t.Errorf("it came %d times", n)
	}
}
