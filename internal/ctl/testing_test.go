package ctl

import (
	"bytes"
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const memSize = 64 << 20

// patience bounds what a test waits for.
const patience = 20 * time.Second

// hints of two NICs that are wired to each other, and of one on a null port.
const (
	wired = "hint.em.0.port=\"pair:t\"\nhint.em.1.port=\"pair:t\"\nhint.ifsim.0.ncpu=\"2\"\n"
	alone = "hint.em.0.port=\"null\"\nhint.ifsim.0.ncpu=\"2\"\n"
)

// serve boots a machine and serves it; the test closes both.
func serve(t testing.TB, loader, hints string) *Server {
	t.Helper()
	fsys := fstest.MapFS{
		"boot/loader.conf":  {Data: []byte(loader)},
		"boot/device.hints": {Data: []byte(hints)},
		"etc/rc.conf":       {Data: []byte("ifconfig_em0=\"up\"\nifconfig_em1=\"up\"\n")},
	}
	m, err := machine.Boot(machine.Config{Files: fsys, MemSize: memSize, Invariants: true, Console: io.Discard})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	ln, err := Listen(filepath.Join(t.TempDir(), "s"))
	must(t, err)
	s := Serve(ln, m)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func (s *Server) path() string { return s.ln.Addr().String() }

// awaitLinks waits until the link of every NIC is up.
func (s *Server) awaitLinks(t testing.TB) {
	t.Helper()
	for _, name := range s.m.Devices() {
		ifp := s.m.Ifnet(name)
		eventually(t, name+"'s link state", func() uint64 { return uint64(ifp.LinkState()) }, uint64(ifnet.LinkStateUp))
	}
}

// Do asks the machine at path.
func Do(ctx context.Context, path string, req Request) (Reply, error) {
	c, err := client.New(path)
	if err != nil {
		return Reply{}, err
	}
	return c.Do(ctx, req)
}

// ask sends a request, which must reach the machine.
func (s *Server) ask(t testing.TB, req Request) Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reply, err := Do(ctx, s.path(), req)
	must(t, err)
	return reply
}

// raw sends bytes and returns all that comes back.
func (s *Server) raw(t testing.TB, text []byte) string {
	t.Helper()
	conn, err := net.Dial("unix", s.path())
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	var wg sync.WaitGroup
	// The server need not take all of it.
	wg.Go(func() { _, _ = conn.Write(text) })
	var out bytes.Buffer
	_, err = io.Copy(&out, conn)
	if err != nil && out.Len() == 0 {
		t.Errorf("reading the reply to %.80q: %v", text, err)
	}
	conn.Close()
	wg.Wait()
	return out.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
