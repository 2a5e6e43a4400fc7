package sysctl8_test

import (
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/sysctl"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

// box is a tree with one of everything below hw.t.
type box struct {
	tree *sysctl.Tree
	x    atomic.Int32
	s    atomic.Pointer[string]
	file string // what -f reads
}

func newBox(tb testing.TB) *box {
	b := &box{tree: sysctl.NewTree(sysctl.NewKenv(), func(format string, a ...any) { tb.Errorf(format, a...) })}
	hw, err := b.tree.Lookup("hw")
	if err != nil {
		tb.Fatal(err)
	}
	c := b.tree.NewCtx()
	n := c.Node(hw, "t", sysctl.RD, "test node")
	b.x.Store(3)
	c.Int(n, "x", sysctl.RW, &b.x, "an int")
	c.Int(n, "tun", sysctl.RDTUN, &b.x, "a tunable")
	c.ConstInt(n, "ro", sysctl.RD, 50, "max send queue size")
	c.String(n, "s", sysctl.RW, &b.s, 8, "a string")
	for name, errno := range map[string]syscall.Errno{"enotsup": syscall.EOPNOTSUPP, "enotdir": syscall.ENOTDIR, "enomem": syscall.ENOMEM} {
		c.Proc(c.Node(n, "err", sysctl.RD, ""), name, sysctl.RW|sysctl.MPSafe|sysctl.Skip, sysctl.KindInt, "I", func(r *sysctl.Request) error {
			if _, written, err := r.HandleInt(1); err != nil || !written {
				return err
			}
			return errno
		}, "")
	}
	c.Proc(n, "small", sysctl.RW|sysctl.MPSafe, sysctl.KindInt, "I", func(r *sysctl.Request) error {
		v, written, err := r.HandleInt(int64(b.x.Load()))
		if err != nil || !written {
			return err
		}
		if v > 10 {
			return syscall.EINVAL
		}
		b.x.Store(int32(v))
		return nil
	}, "")
	c.Opaque(n, "raw", sysctl.RW, "S,foo", func() []byte { return []byte("0123456789abcdefghijklmn") }, "opaque")
	c.Proc(n, "broken", sysctl.RD|sysctl.MPSafe, sysctl.KindInt, "I", func(*sysctl.Request) error { return syscall.ENXIO }, "")
	c.Counter(n, "count", sysctl.RW, func() uint64 { return 9 }, func() {}, "statistic")
	hidden := c.Node(n, "hidden", sysctl.RD|sysctl.Skip, "")
	c.ConstInt(hidden, "inner", sysctl.RD, 1, "")
	return b
}

// run runs the tool and returns what it wrote.
func (b *box) run(args ...string) (exit int, stdout, stderr string) {
	var out, errs strings.Builder
	c := sysctl8.Command{Tree: b.tree, Stdout: &out, Stderr: &errs, Open: func(name string) (io.ReadCloser, error) {
		if name != "conf" {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return io.NopCloser(strings.NewReader(b.file)), nil
	}}
	exit = c.Run(args)
	return exit, out.String(), errs.String()
}
