package ndp8

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// run is one run of the tool.
type run struct {
	tool.IO
	k   *kern.Kernel
	j   *tool.JSON       // nil: text
	now func() time.Time // for -t

	mode   byte // the flag that says what to do, 0: show a host
	clash  bool // more than one was given
	arg    string
	stamps bool          // -t
	repeat time.Duration // -A
}

// usageText stands on stdout, as FreeBSD's does.
const usageText = `usage: ndp [-nt] hostname
       ndp [-nt] -a | -c | -p | -r | -H | -P | -R
       ndp [-nt] -A wait
       ndp [-nt] -d hostname
       ndp [-nt] -f filename
       ndp [-nt] -i interface [flags...]
       ndp [-nt] -I [interface|delete]
       ndp [-nt] -s nodename etheraddr [temp] [proxy]
`

// errUsage is a command line that makes no sense.
var errUsage = tool.Usage(usageText)

// Run runs ndp(8) with the arguments behind the command's name on a kernel and returns its
// exit status: 0, or 1 with a message. -A goes on until ctx ends. Any goroutine; it may
// sleep.
func Run(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) (exit int) {
	r := &run{IO: streams, k: k, now: time.Now}
	err := r.main(ctx, args)
	if err == errUsage {
		fmt.Fprint(r.Stdout, usageText)
		return tool.Failure
	}
	return tool.Exit("ndp", err, streams.Stderr)
}

func (r *run) main(ctx context.Context, args []string) error {
	format, args, err := tool.TakeFormat(args)
	if err != nil {
		return err
	}
	args, err = getopt.Flags{Plain: r.flag, Valued: "dfiA", Value: r.value}.Parse(args)
	if bad, ok := err.(getopt.Error); ok {
		fmt.Fprintf(r.Stderr, "ndp: %s\n", bad)
		return errUsage
	}
	if err != nil {
		return err
	}
	if r.clash {
		return errUsage
	}
	if !format.JSON {
		return r.act(ctx, args)
	}
	r.j = format.NewJSON(r.Stdout, xoVersion)
	r.j.Object("ndp", func() { err = r.act(ctx, args) })
	if err != nil {
		return err
	}
	return r.j.Close()
}

// flag takes a flag without argument; false if it is none.
func (r *run) flag(f byte) bool {
	switch f {
	case 'a', 'c', 'p', 'r', 's', 'H', 'I', 'P', 'R':
		r.setMode(f)
	case 'n': // there are no names
	case 't':
		r.stamps = true
	default:
		return false
	}
	return true
}

func (r *run) setMode(f byte) {
	r.clash = r.clash || r.mode != 0
	r.mode = f
}

func (r *run) value(f byte, value string) error {
	if f != 'A' {
		r.setMode(f)
		r.arg = value
		return nil
	}
	r.setMode('a')
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errUsage
	}
	r.repeat = time.Duration(n) * time.Second
	return nil
}

// act does what was asked for.
func (r *run) act(ctx context.Context, args []string) error {
	const (
		setLeast = 2
		setMost  = 4
	)
	switch r.mode {
	case 'i':
		return r.interfaceInfo(r.arg, args)
	case 's':
		if len(args) < setLeast || len(args) > setMost {
			return errUsage
		}
		return Set(r.k, args)
	case 'I':
		if len(args) > 1 {
			return errUsage
		}
		return r.defaultInterface(args)
	case 0:
		if len(args) != 1 {
			return errUsage
		}
		return r.get(args[0])
	}
	if len(args) > 0 {
		return errUsage
	}
	switch r.mode {
	case 'a':
		return r.dump(ctx)
	case 'c':
		return r.clear()
	case 'd':
		var err error
		r.list("neighbor-cache", func() { err = r.remove(r.arg) })
		return err
	case 'f':
		return r.EachLine("ndp", r.arg, func(words []string) error { return Set(r.k, words) })
	case 'p':
		return r.prefixes()
	case 'r':
		r.list("router-list", func() {})
	}
	return nil // -H -P -R: nothing was learnt from routers
}

// list writes a list in JSON; what is inside does either.
func (r *run) list(name string, inside func()) {
	if r.j == nil {
		inside()
		return
	}
	r.j.List(name, inside)
}

// address reads a host.
func address(host string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is6() || addr.Is4In6() {
		return addr, tool.Messagef("%s: Name does not resolve", host)
	}
	return addr, nil
}

// get shows the entry of a host.
func (r *run) get(host string) error {
	addr, err := address(host)
	if err != nil {
		return err
	}
	var found []inet.Neighbour
	for _, n := range inet.NDTable(r.k) {
		if scoped(n) == addr {
			found = append(found, n)
		}
	}
	r.table(found)
	if len(found) == 0 {
		return tool.Messagef("%s (%s) -- no entry", host, addr)
	}
	return nil
}

// dump shows all entries, with -A again and again.
func (r *run) dump(ctx context.Context) error {
	for {
		r.table(inet.NDTable(r.k))
		if r.repeat == 0 || r.j != nil {
			return nil
		}
		fmt.Fprintln(r.Stdout)
		if r.Pause(ctx, r.repeat) != nil {
			return nil
		}
	}
}

// clear deletes all entries but this machine's own.
func (r *run) clear() (err error) {
	r.list("neighbor-cache", func() {
		for _, n := range inet.NDTable(r.k) {
			if !n.Own && err == nil {
				err = r.remove(scoped(n).String())
			}
		}
	})
	return err
}

// remove deletes the entry of a host.
func (r *run) remove(host string) error {
	addr, err := address(host)
	if err != nil {
		return err
	}
	route, err := inet.RouteTo(r.k, addr)
	if err != nil || !route.OnLink() {
		return tool.Messagef("delete: cannot locate %s", host)
	}
	if err := inet.DelNeighbour(r.k, addr); err != nil {
		return tool.Messagef("delete %s: %s", host, sysctl.Strerror(err))
	}
	if r.j == nil {
		_, err = fmt.Fprintf(r.Stdout, "%s (%s) deleted\n", host, addr)
		return err
	}
	r.j.Item(func() {
		r.j.Field("hostname", host)
		r.j.Field("address", addr.WithZone(""))
		r.j.Field("interface", route.If)
	})
	return nil
}

// interfaceByName is an interface that must be there.
func (r *run) interfaceByName(name, request string) (*ifnet.Ifnet, error) {
	ifp := ifnet.ByName(r.k, name)
	if ifp == nil {
		return nil, tool.Messagef("ioctl(%s): Device not configured", request)
	}
	return ifp, nil
}

// defaultInterface shows the interface of destinations without a router, which is never
// set here.
func (r *run) defaultInterface(args []string) error {
	if len(args) == 1 && !strings.EqualFold(args[0], "delete") {
		if ifnet.ByName(r.k, args[0]) == nil {
			return tool.Messagef("invalid interface %s", args[0])
		}
		return tool.Messagef("-I %s: not available", args[0])
	}
	if r.j == nil {
		fmt.Fprintln(r.Stdout, "No default interface.")
	}
	return nil
}
