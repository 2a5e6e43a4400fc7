package client_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const memSize = 64 << 20

// patience bounds what a test waits for.
const patience = 20 * time.Second

// socket makes a path for a socket, which must be short, and removes it.
func socket() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "ifsim")
	if err != nil {
		panic(err)
	}
	return filepath.Join(dir, "s"), func() { os.RemoveAll(dir) }
}

// boot runs a machine of two NICs that are wired to each other, as `ifsim boot` does, and
// returns where its control socket is.
func boot() (path string, down func()) {
	path, remove := socket()
	m, err := machine.Boot(machine.Config{MemSize: memSize, Console: io.Discard, Files: fstest.MapFS{
		"boot/device.hints": {Data: []byte("hint.em.0.port=\"pair:t\"\nhint.em.1.port=\"pair:t\"\nhint.ifsim.0.ncpu=\"2\"\n")},
		"etc/rc.conf":       {Data: []byte("ifconfig_em0=\"up\"\nifconfig_em1=\"up\"\n")},
	}})
	if err != nil {
		panic(err)
	}
	ln, err := ctl.Listen(path)
	if err != nil {
		panic(err)
	}
	s := ctl.Serve(ln, m)
	return path, func() {
		s.Close()
		m.Close()
		remove()
	}
}

// running is a client of a machine that runs until it is taken down.
func running() (c *client.Client, down func()) {
	path, down := boot()
	c, err := client.New(path)
	if err != nil {
		panic(err)
	}
	return c, down
}

// booted is a client of a machine that runs until the test ends.
func booted(t *testing.T) *client.Client {
	t.Helper()
	c, down := running()
	t.Cleanup(down)
	return c
}

// puppet is a client of something that answers each request with the next of some texts.
func puppet(t *testing.T, answers ...string) *client.Client {
	t.Helper()
	path, remove := socket()
	t.Cleanup(remove)
	ln, err := net.Listen("unix", path)
	must(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { ln.Close(); <-done })
	go func() {
		defer close(done)
		for _, text := range answers {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(conn).ReadString('\n')
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	}()
	c, err := client.New(path)
	must(t, err)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
