package route8

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/inaddr"
)

// Exit statuses (sysexits(3)).
const (
	exitUsage  = 64
	exitData   = 65
	exitNoHost = 68
	exitOS     = 71
)

const usageText = "usage: route [-46dnqtv] command [[modifiers] args]"

// usage is a command line that makes no sense; bad is the word that does not, if any.
func usage(bad string) error {
	text := "route: " + usageText + "\n"
	if bad != "" {
		text = fmt.Sprintf("route: bad keyword: %s\n%s", bad, text)
	}
	return tool.Status{Code: exitUsage, Err: tool.Usage(text)}
}

func failf(status int, format string, a ...any) error {
	return tool.Status{Code: status, Err: tool.Messagef(format, a...)}
}

// Command is a command of route(8) about one route.
type Command struct {
	verb          string // as written
	dest, gateway string // as shown
	host          bool   // shown as a host, not as a network
	masked        bool   // the length of the prefix was given
	req           inet.RouteReq
}

// Gateway is the gateway; invalid if there is none.
func (c Command) Gateway() netip.Addr { return c.req.Gateway }

// Interface is what -interface names, "" without it.
func (c Command) Interface() string { return c.req.If }

// Prefix is the destination.
func (c Command) Prefix() netip.Prefix { return c.req.Prefix }

// String is what the tool says that it has done.
func (c Command) String() string {
	kind := "net"
	if c.host {
		kind = "host"
	}
	text := fmt.Sprintf("%s %s %s", c.verb, kind, c.dest)
	if c.gateway != "" {
		text += ": gateway " + c.gateway
	}
	return text
}

// keywords without an argument that change nothing here.
var ignored = []string{"static", "sticky", "nostick"}

// keywords of what is not here: the first have no argument.
var (
	missing       = []string{"lock", "lockrest", "proxy", "sa", "xresolve", "link", "nostatic"}
	missingValued = []string{"expire", "genmask", "hopcount", "ifa", "ifp", "metric", "mtu", "recvpipe", "rtt", "rttvar", "sendpipe", "ssthresh", "weight"}
)

// parser reads the words behind a command's name.
type parser struct {
	Command
	args        []string
	af          ifnet.AF // 0: not said yet
	net, toHost bool     // -net, -host
	isInterface bool     // -interface
	length      string   // of -prefixlen
	mask        string   // of -netmask, or the third word

	destination, via string // words
}

// Parse reads a command (add, change, delete, get) and the words behind it, of the family
// that is meant unless they say another (newroute). An error is the tool's to print, a
// [tool.Status].
func Parse(args []string, af ifnet.AF) (Command, error) {
	p := &parser{Command: Command{verb: args[0]}, args: args[1:], af: af}
	for len(p.args) > 0 {
		word := p.args[0]
		p.args = p.args[1:]
		var err error
		if key, ok := strings.CutPrefix(word, "-"); ok {
			err = p.keyword(key)
		} else {
			p.plain(word)
		}
		if err != nil {
			return p.Command, err
		}
	}
	if p.destination == "" {
		return p.Command, tool.Status{Code: exitUsage, Err: tool.Usage("route: destination parameter required\nroute: " + usageText + "\n")}
	}
	return p.Command, p.finish()
}

// plain takes a destination, then a gateway, then a mask.
func (p *parser) plain(word string) {
	switch {
	case p.destination == "":
		p.destination = word
	case p.via == "":
		p.via = word
	default:
		p.mask = word
	}
}

// keyword takes a modifier and its argument.
func (p *parser) keyword(key string) error {
	switch key {
	case "4", "inet":
		p.af = ifnet.AFInet
	case "6", "inet6":
		p.af = ifnet.AFInet6
	case "net":
		p.net = true
	case "host":
		p.toHost = true
	case "iface", "interface":
		p.isInterface = true
	case "reject":
		p.req.Flags |= inet.RouteReject
	case "blackhole":
		p.req.Flags |= inet.RouteBlackhole
	case "proto1":
		p.req.Flags |= inet.RouteProto1
	case "proto2":
		p.req.Flags |= inet.RouteProto2
	case "dst":
		return p.argument(&p.destination)
	case "gateway":
		return p.argument(&p.via)
	case "netmask":
		return p.argument(&p.mask)
	case "prefixlen":
		return p.argument(&p.length)
	case "fib":
		fib := ""
		if err := p.argument(&fib); err != nil {
			return err
		}
		if fib != "0" && fib != "default" && fib != "all" {
			return failf(exitUsage, "invalid fib number: %s", fib)
		}
	default:
		switch {
		case slices.Contains(missing, key), slices.Contains(missingValued, key):
			return failf(exitUsage, "-%s: not available", key)
		case !slices.Contains(ignored, key):
			return usage(key)
		}
	}
	return nil
}

func (p *parser) argument(to *string) error {
	if len(p.args) == 0 {
		return usage("")
	}
	*to, p.args = p.args[0], p.args[1:]
	return nil
}

// finish puts together what was read.
func (p *parser) finish() (err error) {
	if p.af == 0 {
		p.af = ifnet.AFInet
	}
	p.dest, p.gateway = p.destination, p.via
	switch {
	case p.via == "":
	case p.isInterface:
		p.req.If = p.via
	default:
		if p.req.Gateway, err = p.address(p.via); err != nil {
			return err
		}
	}
	p.req.Prefix, err = p.prefix()
	return err
}

// address reads a whole address of the family.
func (p *parser) address(text string) (netip.Addr, error) {
	if text == "default" {
		if p.af == ifnet.AFInet {
			return netip.IPv4Unspecified(), nil
		}
		return netip.IPv6Unspecified(), nil
	}
	addr, err := netip.ParseAddr(text)
	if err == nil && addr.Is4() == (p.af == ifnet.AFInet) && !addr.Is4In6() {
		return addr, nil
	}
	if p.af == ifnet.AFInet {
		return addr, failf(exitNoHost, "bad address: %s", text)
	}
	return addr, failf(exitOS, "%s: Name does not resolve", text)
}

const net4Dots = 3 // of a whole IPv4 address

// prefix is the network or host that the destination names. Of an IPv4 network zeros at the
// end may be missing.
func (p *parser) prefix() (none netip.Prefix, err error) {
	text, length, slash := strings.Cut(p.destination, "/")
	if p.af == ifnet.AFInet {
		p.dest = text
		for n := strings.Count(text, "."); text != "default" && !p.toHost && n < net4Dots; n++ {
			text += ".0"
		}
	}
	addr, err := p.address(text)
	if err != nil {
		if p.af == ifnet.AFInet {
			err = failf(exitNoHost, "bad address: %s", p.dest)
		}
		return none, err
	}
	if !slash {
		length = p.length
	}
	bits, ok := p.bits(addr), true
	switch {
	case length != "":
		if bits, ok = inaddr.PrefixLength(addr, length); !ok && slash {
			return none, failf(exitNoHost, "bad mask length: %s", length)
		} else if !ok {
			return none, failf(exitUsage, "%s: invalid prefixlen", length)
		}
	case p.mask != "":
		if bits, ok = inaddr.MaskLength(addr, p.mask); !ok {
			return none, failf(exitNoHost, "bad address: %s", p.mask)
		}
	}
	p.masked = length != "" || p.mask != "" || p.destination == "default"
	p.host = bits == addr.BitLen() && !p.net && !(slash && p.af == ifnet.AFInet) && p.mask == ""
	return netip.PrefixFrom(addr.WithZone(""), bits).Masked(), nil
}

// bits is the length of a destination without one: a network of its class if it is said to
// be one or has no host part, else a host.
func (p *parser) bits(addr netip.Addr) int {
	if addr.IsUnspecified() && !p.toHost {
		return 0
	}
	network := netip.PrefixFrom(addr, inaddr.DefaultBits(addr))
	if !p.toHost && (p.net || addr == network.Masked().Addr()) {
		return network.Bits()
	}
	return addr.BitLen()
}
