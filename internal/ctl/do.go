package ctl

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ifsim/ifsim/internal/ctl/ifconfig8"
	"github.com/ifsim/ifsim/internal/ctl/netstat8"
	"github.com/ifsim/ifsim/internal/ctl/pfctl8"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

// do carries a request out. partial sends a reply before the last one.
func (s *Server) do(ctx context.Context, req Request, partial func(Reply)) Reply {
	var stdout, stderr output
	var reply Reply
	switch req.Command {
	case CommandSysctl:
		c := sysctl8.Command{Tree: s.m.Kernel().Sysctl, Stdout: &stdout, Stderr: &stderr}
		c.Open = func(name string) (io.ReadCloser, error) { return openFile(req.Dir, name) }
		reply.Exit = c.Run(req.Args)
	case CommandIfconfig:
		reply.Exit = ifconfig8.Run(s.m, req.Args, &stdout, &stderr)
	case CommandNetstat:
		reply.Exit = netstat8.Run(s.m.Kernel(), req.Args, &stdout, &stderr)
	case CommandPfctl:
		reply.Exit = pfctl8.Run(ctx, s.m.Kernel(), req.Args, pfctl8.IO{
			Stdout: &stdout, Stderr: &stderr,
			Open: func(name string) (io.ReadCloser, error) { return openFile(req.Dir, name) },
			Flush: func() {
				partial(Reply{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), More: true})
				stdout.Reset()
				stderr.Reset()
			},
		})
	case CommandPktgen:
		res, err := s.pktgen(ctx, *req.Pktgen)
		reply.Pktgen = &res
		if err != nil {
			reply.Error, reply.Exit = err.Error(), 1
		}
	}
	reply.Stdout, reply.Stderr = stdout.Bytes(), stderr.Bytes()
	if stdout.cut || stderr.cut {
		reply.Error = fmt.Sprintf("output longer than %d bytes", maxOutput)
		reply.Exit = 1
	}
	return reply
}

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
