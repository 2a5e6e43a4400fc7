package ctl

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/internal/ctl/arp8"
	"github.com/ifsim/ifsim/internal/ctl/devctl8"
	"github.com/ifsim/ifsim/internal/ctl/devinfo8"
	"github.com/ifsim/ifsim/internal/ctl/dmesg8"
	"github.com/ifsim/ifsim/internal/ctl/dump8"
	"github.com/ifsim/ifsim/internal/ctl/ifconfig8"
	"github.com/ifsim/ifsim/internal/ctl/kenv8"
	"github.com/ifsim/ifsim/internal/ctl/ndp8"
	"github.com/ifsim/ifsim/internal/ctl/netstat8"
	"github.com/ifsim/ifsim/internal/ctl/pciconf8"
	"github.com/ifsim/ifsim/internal/ctl/pfctl8"
	"github.com/ifsim/ifsim/internal/ctl/pktgen8"
	"github.com/ifsim/ifsim/internal/ctl/route8"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/ctl/top8"
	"github.com/ifsim/ifsim/internal/ctl/vmstat8"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

// call is one run of a tool for a client.
type call struct {
	m              *machine.Machine
	pktgen         *pktgen8.Pktgen
	ctx            context.Context // ends when the client goes away, or the server
	req            Request
	stdout, stderr output
	partial        func(Reply) // sends a reply before the last one
}

// tools are what a request can name; each returns its exit status.
var tools = map[string]func(c *call) int{
	CommandSysctl: func(c *call) int {
		run := sysctl8.Command{Tree: c.m.Kernel().Sysctl, Stdout: &c.stdout, Stderr: &c.stderr, Open: c.open}
		return run.Run(c.req.Args)
	},
	CommandKenv: func(c *call) int {
		return kenv8.Run(c.m.Kernel().Env, c.req.Args, &c.stdout, &c.stderr)
	},
	CommandDevctl: func(c *call) int {
		return devctl8.Run(c.m, c.req.Args, &c.stderr)
	},
	CommandDevinfo: func(c *call) int {
		return devinfo8.Run(c.m.Slots(), c.req.Args, &c.stdout, &c.stderr)
	},
	CommandPciconf: func(c *call) int {
		return pciconf8.Run(c.m.Slots(), c.req.Args, &c.stdout, &c.stderr)
	},
	CommandDmesg: func(c *call) int {
		return dmesg8.Run(c.m.Kernel(), c.req.Args, &c.stdout, &c.stderr)
	},
	CommandDump: func(c *call) int {
		return dump8.Run(c.m, c.req.Args, c.streams())
	},
	CommandIfconfig: func(c *call) int {
		return ifconfig8.Run(c.m, c.req.Args, &c.stdout, &c.stderr)
	},
	CommandNetstat: func(c *call) int {
		return netstat8.Run(c.ctx, c.m, c.req.Args, c.streams())
	},
	CommandRoute: func(c *call) int {
		return route8.Run(c.ctx, c.m.Kernel(), c.req.Args, c.streams())
	},
	CommandARP: func(c *call) int {
		return arp8.Run(c.ctx, c.m.Kernel(), c.req.Args, c.streams())
	},
	CommandNDP: func(c *call) int {
		return ndp8.Run(c.ctx, c.m.Kernel(), c.req.Args, c.streams())
	},
	CommandPfctl: func(c *call) int {
		return pfctl8.Run(c.ctx, c.m.Kernel(), c.req.Args, c.streams())
	},
	CommandTop: func(c *call) int {
		return top8.Run(c.ctx, c.m, c.req.Args, c.streams())
	},
	CommandTcpdump: func(c *call) int {
		return tcpdump8.Run(c.ctx, c.m.Kernel(), c.req.Args, c.streams())
	},
	CommandVmstat: func(c *call) int {
		return vmstat8.Run(c.ctx, c.m.Kernel(), c.req.Args, c.streams())
	},
	CommandPktgen: func(c *call) int {
		return c.pktgen.Run(c.ctx, c.req.Args, c.streams())
	},
}

// do carries a request out. partial sends a reply before the last one. The output in the
// reply is held until it has been sent.
func (s *Server) do(ctx context.Context, req Request, partial func(Reply)) (reply Reply) {
	c := &call{
		m: s.m, pktgen: s.pktgen, ctx: ctx, req: req, partial: partial,
		stdout: output{held: &s.held}, stderr: output{held: &s.held},
	}
	if req.Pktgen != nil {
		return c.runPktgen()
	}
	reply.Exit = tools[req.Command](c)
	reply.Stdout, reply.Stderr = c.stdout.Bytes(), c.stderr.Bytes()
	if c.stdout.cut || c.stderr.cut {
		reply.Error, reply.Exit = errCut.Error(), 1
	}
	return reply
}

// flush sends what the tool has printed so far.
func (c *call) flush() {
	c.partial(Reply{Stdout: c.stdout.Bytes(), Stderr: c.stderr.Bytes(), More: true})
	c.stdout.drop()
	c.stderr.drop()
}

// streams are what a tool prints to and waits with.
func (c *call) streams() tool.IO {
	return tool.IO{Stdout: &c.stdout, Stderr: &c.stderr, Flush: c.flush, Wait: c.wait, Open: c.open}
}

// wait waits for d of the machine's time. It ends early with an error when ctx does.
func (c *call) wait(ctx context.Context, d time.Duration) error {
	k := c.m.Kernel()
	due := make(chan struct{})
	timer := k.NewCallout("ctl wait", nil, func() { close(due) })
	defer timer.Drain()
	ticks := d.Seconds() * float64(k.Hz())
	timer.Reset(int(min(max(1, ticks), math.MaxInt32)), -1)
	select {
	case <-due:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open opens a file as the client means it.
func (c *call) open(name string) (io.ReadCloser, error) { return openFile(c.req.Dir, name) }

// openFile opens a file of sysctl -f or pfctl -f as the client means it. Only regular files, as
// others may never end. EINVAL: it is not one.
func openFile(dir, name string) (io.ReadCloser, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = syscall.EINVAL
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
