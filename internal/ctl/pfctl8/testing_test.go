package pfctl8_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/pfctl8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// box is a machine with a packet filter and one interface that can shape.
type box struct {
	t     testing.TB
	k     *kern.Kernel
	p     *pf.PF
	c     *mbuf.Cache
	q     *altq.Queue
	files map[string]string
	wait  func(ctx context.Context, d time.Duration) error
	parts []string // what was flushed
}

func newBox(t testing.TB) *box {
	t.Helper()
	k := altqtest.Kernel(t, true)
	must(t, pf.Init(k))
	p, err := pf.Of(k)
	must(t, err)
	b := &box{t: t, k: k, p: p, c: mbuf.Of(k).NewCache(), files: make(map[string]string)}
	t.Cleanup(b.c.Close)
	ifp := ifnet.Alloc(k, ifnet.TypeEther)
	ifp.InitName("em", 0)
	ifp.SetMethods(ifnet.Methods{Init: func() {}})
	ifp.SetBaudrate(1e9)
	b.q = altq.NewQueue(altq.Env{Kernel: k, Name: "em0", MaxLen: 50})
	ifp.SetSendQueue(b.q)
	ifnet.EtherAttach(ifp, [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 1})
	t.Cleanup(func() {
		ifnet.EtherDetach(ifp)
		ifp.SetSendQueue(nil)
		b.q.Close()
		ifnet.Free(ifp)
	})
	return b
}

// run runs the tool.
func (b *box) run(args ...string) (stdout, stderr string, exit int) {
	var o, e bytes.Buffer
	exit = pfctl8.Run(context.Background(), b.k, args, tool.IO{
		Stdout: &o, Stderr: &e, Wait: b.wait,
		Flush: func() { b.parts = append(b.parts, o.String()); o.Reset() },
		Open: func(name string) (io.ReadCloser, error) {
			text, ok := b.files[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(text)), nil
		},
	})
	return o.String(), e.String(), exit
}

// want checks a run.
func (b *box) want(stdout, stderr string, exit int, args ...string) {
	b.t.Helper()
	if o, e, x := b.run(args...); o != stdout || e != stderr || x != exit {
		b.t.Errorf("pfctl %s: exit %d\nstdout %q\nstderr %q\nwant exit %d\nstdout %q\nstderr %q", strings.Join(args, " "), x, o, e, exit, stdout, stderr)
	}
}

// send sends packets of n bytes through the queue of that number, as far as they go.
func (b *box) send(qid altq.QID, n, count int) {
	b.t.Helper()
	for range count {
		m := b.c.GetHdr()
		m.Pkt.Len = int32(n)
		m.QID = qid
		must(b.t, b.q.Enqueue(m))
	}
	for m := b.q.Dequeue(); m != nil; m = b.q.Dequeue() {
		b.c.FreeChain(m)
	}
}

var errStop = errors.New("stop")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
