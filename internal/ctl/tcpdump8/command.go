package tcpdump8

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	netbpf "golang.org/x/net/bpf"

	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8/pcapfilter"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Run runs tcpdump(1) with the arguments behind the command's name on a machine and
// returns its exit status: 0, or 1 with a message on stderr. It captures until -c packets
// have come, the interface is gone, or ctx ends, which is no failure. Any goroutine; it
// may sleep.
func Run(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) (exit int) {
	o, err := parse(args)
	switch {
	case err != nil:
	case o.read != "":
		err = tool.Messagef("-r %s: files are read by the client, not by the machine", o.read)
	case o.write != "" && o.write != stdio:
		err = tool.Messagef("-w %s: files are written by the client, the machine writes to -w -", o.write)
	default:
		err = o.run(ctx, k, streams)
	}
	return tool.Exit("tcpdump", err, streams.Stderr)
}

// run does what the flags ask of a machine.
func (o *options) run(ctx context.Context, k *kern.Kernel, streams tool.IO) error {
	if o.list {
		return listDevices(k, streams.Stdout)
	}
	ifp, err := device(k, o.iface)
	if err != nil {
		return err
	}
	if o.links {
		_, err := fmt.Fprintf(streams.Stdout, "Data link types for %s (use option -y to set):\n  EN10MB (Ethernet)\n", ifp.Name())
		return err
	}
	if err := o.readFilter(streams.Open); err != nil {
		return err
	}
	if o.dump > 0 {
		return o.dumpFilter(streams.Stdout)
	}
	program, err := o.compile()
	if err != nil {
		return err
	}
	c := capture{o: o, k: k, ifp: ifp, streams: streams}
	return c.run(ctx, program)
}

// maxFilter bounds the file of -F in bytes.
const maxFilter = 1 << 16

// readFilter reads the file of -F, whose comments end with their lines.
func (o *options) readFilter(open func(name string) (io.ReadCloser, error)) error {
	if o.fileOf == "" {
		return nil
	}
	f, err := open(o.fileOf)
	if err != nil {
		return tool.Messagef("can't open %s: %s", o.fileOf, reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFilter+1))
	switch {
	case err != nil:
		return tool.Messagef("read %s: %s", o.fileOf, reason(err))
	case len(text) > maxFilter:
		return tool.Messagef("%s is too large", o.fileOf)
	}
	comment := false
	for i, c := range text {
		comment = comment && c != '\n' || c == '#'
		if comment {
			text[i] = ' '
		}
	}
	o.filter = string(text)
	return nil
}

// dumpFilter writes the program of the expression.
func (o *options) dumpFilter(w io.Writer) error {
	program, err := pcapfilter.Compile(o.filter, o.snapLen)
	if err != nil {
		return err
	}
	if program == nil {
		program = []netbpf.Instruction{netbpf.RetConstant{Val: uint32(o.snapLen)}}
	}
	return pcapfilter.Dump(w, program, pcapfilter.Style(o.dump))
}

// assemble is a program as a listener takes it.
func assemble(program []netbpf.Instruction) (bpf.Program, error) {
	raw, err := netbpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("filter program: %w", err)
	}
	return raw, nil
}

// FileError is what tcpdump says of a file.
func FileError(name string, err error) error { return tool.Messagef("%s: %s", name, reason(err)) }

// reason is what went wrong with a file, without its name.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return sysctl.Strerror(errno)
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}
