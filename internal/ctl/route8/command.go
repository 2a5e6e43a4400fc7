package route8

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
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
	k  *kern.Kernel
	af ifnet.AF // -4 -6, 0: all, or IPv4

	numeric, quiet, dry bool             // -n -q, -t or -d
	now                 func() time.Time // for monitor
}

// Run runs route(8) with the arguments behind the command's name on a kernel and returns its
// exit status: 0, 1 for what could not be done, else one of sysexits(3), with a message.
// monitor goes on until ctx ends. Any goroutine; it may sleep.
func Run(ctx context.Context, k *kern.Kernel, args []string, streams tool.IO) (exit int) {
	r := &run{IO: streams, k: k, now: time.Now}
	return tool.Exit("route", r.main(ctx, args), streams.Stderr)
}

func (r *run) main(ctx context.Context, args []string) error {
	args, err := getopt.Flags{Plain: r.flag}.Parse(args)
	if bad := getopt.Error(""); errors.As(err, &bad) {
		return tool.Status{Code: exitUsage, Err: tool.Usage(fmt.Sprintf("route: %s\nroute: %s\n", bad, usageText))}
	}
	if len(args) == 0 {
		return usage("")
	}
	switch args[0] {
	case "add", "change", "del", "delete":
		return r.change(args)
	case "get", "show":
		return r.get(args)
	case "flush":
		return r.flush(args[1:])
	case "monitor":
		return r.monitor(ctx, args[1:])
	}
	return usage(args[0])
}

// flag takes a flag; false if it is none.
func (r *run) flag(f byte) bool {
	switch f {
	case '4':
		r.af = ifnet.AFInet
	case '6':
		r.af = ifnet.AFInet6
	case 'n':
		r.numeric = true
	case 'q':
		r.quiet = true
	case 'v': // what FreeBSD's tool sends to its kernel, which nothing here does
	case 'd', 't':
		r.dry = true
	default:
		return false
	}
	return true
}

// Do carries out add, change or delete. The error is inet's.
func (c Command) Do(k *kern.Kernel) error {
	switch c.verb {
	case "add":
		return inet.AddRoute(k, c.req)
	case "change":
		return inet.ChangeRoute(k, c.req)
	}
	return inet.DelRoute(k, c.req.Prefix, c.req.Gateway)
}

// Reason is what the tool says of an error of [Command.Do].
func Reason(err error) string {
	for errno, text := range map[syscall.Errno]string{
		syscall.ESRCH: "not in table", syscall.EBUSY: "entry in use", syscall.ENOBUFS: "not enough memory",
		syscall.EADDRINUSE: "gateway uses the same route", syscall.EEXIST: "route already in table",
	} {
		if errors.Is(err, errno) {
			return text
		}
	}
	return sysctl.Strerror(err)
}

// change does what add, change and delete ask for and says so.
func (r *run) change(args []string) error {
	c, err := Parse(args, r.af)
	if err != nil {
		return err
	}
	if c.req.If != "" && ifnet.ByName(r.k, c.req.If) == nil {
		return failf(exitData, "interface '%s' does not exist", c.req.If)
	}
	if !r.dry {
		err = c.Do(r.k)
	}
	if !r.quiet {
		text := c.String()
		if err != nil {
			text += " fib 0: " + Reason(err)
		}
		fmt.Fprintln(r.Stdout, text)
	}
	if err != nil {
		return tool.Status{Code: tool.Failure}
	}
	return nil
}

// name is an address as routename shows it: numbers only with -n.
func (r *run) name(a netip.Addr) string {
	if a.IsUnspecified() && !r.numeric {
		return "default"
	}
	return a.String()
}

// get shows the route to an address, or exactly the one to a prefix (print_getmsg).
func (r *run) get(args []string) error {
	c, err := Parse(args, r.af)
	if err != nil {
		return err
	}
	dst := c.req.Prefix.Addr()
	if addr, err := netip.ParseAddr(c.dest); err == nil {
		dst = addr // with its zone
	}
	found, err := inet.RouteTo(r.k, dst)
	if c.masked {
		found, err = exact(r.k, c.req.Prefix)
	}
	if err != nil {
		return tool.Messagef("route has not been found")
	}
	r.show(dst, found)
	return nil
}

// exact is the route to one prefix.
func exact(k *kern.Kernel, prefix netip.Prefix) (inet.Route, error) {
	for _, found := range inet.Routes(k) {
		if found.Prefix == prefix {
			return found, nil
		}
	}
	return inet.Route{}, syscall.ESRCH
}

// show prints a route as get does.
func (r *run) show(dst netip.Addr, found inet.Route) {
	mtu, w := found.MTU, r.Stdout
	fmt.Fprintf(w, "   route to: %s\ndestination: %s\n", r.name(dst), r.name(found.Prefix.Addr()))
	if !found.Prefix.IsSingleIP() {
		fmt.Fprintf(w, "       mask: %s\n", r.name(mask(found.Prefix)))
	}
	if found.Gateway.IsValid() {
		fmt.Fprintf(w, "    gateway: %s\n", r.name(scoped(found.Gateway, found.If)))
	}
	fmt.Fprintf(w, "        fib: 0\n  interface: %s\n      flags: %s\n", ifname(found), flagsText(found.Flags|flagDone))
	fmt.Fprintf(w, "%9s %9s %9s %9s %9s %10s %9s\n", "recvpipe", "sendpipe", "ssthresh", "rtt,msec", "mtu   ", "weight", "expire")
	fmt.Fprintf(w, "%8d  %8d  %8d  %8d  %8d  %8d  %8d \n", 0, 0, 0, 0, mtu, 1, 0)
}

// loopName is the interface of what this machine has itself.
const loopName = "lo0"

// ifname is the interface that a route leads to.
func ifname(found inet.Route) string {
	if found.Local {
		return loopName
	}
	return found.If
}

// scoped is a gateway with its interface if it is a link-local address.
func scoped(a netip.Addr, ifname string) netip.Addr {
	if a.Is6() && a.IsLinkLocalUnicast() {
		return a.WithZone(ifname)
	}
	return a
}

// mask is the mask of a prefix as an address.
func mask(p netip.Prefix) netip.Addr {
	all := netip.AddrFrom4([4]byte{0xff, 0xff, 0xff, 0xff})
	if p.Addr().Is6() {
		all = netip.AddrFrom16([16]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	}
	return netip.PrefixFrom(all, p.Bits()).Masked().Addr()
}

// flagDone is the flag of answers (RTF_DONE).
const flagDone inet.RouteFlags = 0x40

// flagNames are the names of flags in the order of their bits (routeflags).
var flagNames = [...]struct {
	bit  inet.RouteFlags
	name string
}{
	{inet.RouteUp, "UP"}, {inet.RouteGateway, "GATEWAY"}, {inet.RouteHost, "HOST"}, {inet.RouteReject, "REJECT"}, {flagDone, "DONE"},
	{inet.RouteStatic, "STATIC"}, {inet.RouteBlackhole, "BLACKHOLE"}, {inet.RouteProto2, "PROTO2"}, {inet.RouteProto1, "PROTO1"}, {inet.RoutePinned, "PINNED"},
}

// flagsText is a set of flags as printb shows it.
func flagsText(flags inet.RouteFlags) string {
	text, sep := "", "<"
	for _, f := range flagNames {
		if flags&f.bit != 0 {
			text += sep + f.name
			sep = ","
		}
	}
	if text != "" {
		text += ">"
	}
	return text
}
