package route8

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// families are the modifiers of flush.
var families = map[string]ifnet.AF{"-4": ifnet.AFInet, "-inet": ifnet.AFInet, "-6": ifnet.AFInet6, "-inet6": ifnet.AFInet6}

// flush deletes all routes through gateways, or those of one family (flushroutes).
func (r *run) flush(args []string) error {
	for len(args) > 0 {
		af, ok := families[args[0]]
		switch {
		case ok:
			r.af = af
		case args[0] == "-fib" && len(args) > 1:
			if args = args[1:]; args[0] != "0" {
				return failf(exitUsage, "invalid fib number: %s", args[0])
			}
		default:
			return usage(args[0])
		}
		args = args[1:]
	}
	for _, route := range inet.Routes(r.k) {
		if !route.Static || !route.Gateway.IsValid() || r.af != 0 && (r.af == ifnet.AFInet) != route.Prefix.Addr().Is4() {
			continue
		}
		if !r.dry {
			if err := inet.DelRoute(r.k, route.Prefix, route.Gateway); err != nil {
				return tool.Messagef("RTM_DELROUTE failed:: %s", Reason(err))
			}
		}
		if !r.quiet {
			fmt.Fprintf(r.Stdout, "%-20.20s %-20.20s -fib %-3d done\n", r.netname(route.Prefix), r.name(scoped(route.Gateway, route.If)), 0)
		}
	}
	return nil
}

// netname is a destination as flush shows it: of an IPv4 network without zeros at the end.
func (r *run) netname(p netip.Prefix) string {
	a := p.Addr()
	switch {
	case a.Is4() && a.IsUnspecified():
		return "default"
	case a.Is6() || p.IsSingleIP():
		return a.String()
	}
	text := a.String()
	for strings.HasSuffix(text, ".0") {
		text = strings.TrimSuffix(text, ".0")
	}
	return text
}
