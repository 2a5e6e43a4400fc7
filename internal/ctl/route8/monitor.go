package route8

import (
	"context"
	"fmt"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/inaddr"
)

// monitorInterval is how often monitor looks. What comes and goes in between is not seen.
const monitorInterval = 100 * time.Millisecond

// thing is something that monitor watches.
type thing struct {
	key  string // what it is, "route 10.0.0.0/8"
	text string // how it is
}

// monitor prints what changes: interfaces, addresses, routes and neighbours (monitor_nl).
func (r *run) monitor(ctx context.Context, args []string) error {
	for len(args) > 0 {
		if args[0] != "-fib" || len(args) == 1 {
			return usage(args[0])
		}
		if args[1] != "0" {
			return failf(exitUsage, "invalid fib number: %s", args[1])
		}
		args = args[2:]
	}
	before := r.things()
	for r.Wait(ctx, monitorInterval) == nil {
		now := r.things()
		if r.tell(before, now) && r.Flush != nil {
			r.Flush()
		}
		before = now
	}
	return nil
}

// tell prints the differences; false if there are none.
func (r *run) tell(before, now []thing) (told bool) {
	line := func(action string, t thing) {
		fmt.Fprintf(r.Stdout, "%s %s %s %s\n", r.now().Format("15:04:05.000"), action, t.key, t.text)
		told = true
	}
	old, fresh := index(before), index(now)
	for _, t := range before {
		if _, ok := fresh[t.key]; !ok {
			line("delete", t)
		}
	}
	for _, t := range now {
		if text, ok := old[t.key]; !ok || text != t.text {
			line("add/repl", t)
		}
	}
	return told
}

func index(things []thing) map[string]string {
	m := make(map[string]string, len(things))
	for _, t := range things {
		m[t.key] = t.text
	}
	return m
}

// things are all that there is, as FreeBSD's tool writes it.
func (r *run) things() (list []thing) {
	for _, ifp := range ifnet.List(r.k) {
		admin, oper := "DOWN", "DOWN"
		if ifp.Flags()&ifnet.FlagUp != 0 {
			admin = "UP"
		}
		if ifp.ReportedFlags()&ifnet.FlagRunning != 0 {
			oper = "UP"
		}
		list = append(list, thing{fmt.Sprintf("iface iface#%d %s", ifp.Index(), ifp.Name()),
			fmt.Sprintf("admin %s oper %s mtu %d ", admin, oper, ifp.MTU())})
		for _, a := range inet.Addrs(ifp) {
			list = append(list, thing{fmt.Sprintf("addr %s/%d", scoped(a.Prefix.Addr(), ifp.Name()), a.Prefix.Bits()), "iface " + ifp.Name() + " "})
		}
	}
	for _, route := range inet.Routes(r.k) {
		list = append(list, thing{fmt.Sprintf("route %s/%d", scoped(route.Prefix.Addr(), route.If), route.Prefix.Bits()), routeText(route)})
	}
	for _, table := range [...][]inet.Neighbour{inet.ARPTable(r.k), inet.NDTable(r.k)} {
		for _, n := range table {
			list = append(list, thing{"neigh " + scoped(n.Addr, n.If).String(), neighbourText(n)})
		}
	}
	return list
}

// routeText is where a route leads (print_nlmsg_route).
func routeText(route inet.Route) (text string) {
	switch {
	case route.Flags&inet.RouteReject != 0:
		return "prohibit(reject)"
	case route.Flags&inet.RouteBlackhole != 0:
		return "blackhole"
	case route.Gateway.IsValid():
		text = fmt.Sprintf("gw %s ", scoped(route.Gateway, route.If))
	}
	table := "inet"
	if route.Prefix.Addr().Is6() {
		table = "inet6"
	}
	return fmt.Sprintf("%siface %s mtu %d table %s.0", text, ifname(route), route.MTU, table)
}

// stateNames are the states of neighbours that have a name.
var stateNames = map[inet.NeighbourState]string{
	inet.NeighbourIncomplete: "INCOMPLETE", inet.NeighbourReachable: "REACHABLE", inet.NeighbourStale: "STALE",
	inet.NeighbourDelay: "DELAY", inet.NeighbourProbe: "PROBE", inet.NeighbourPermanent: "REACHABLE",
}

// neighbourText is how a neighbour is (print_nlmsg_neigh).
func neighbourText(n inet.Neighbour) string {
	text := "state " + stateNames[n.State] + " "
	if n.Complete {
		text += "lladdr " + inaddr.EtherText(n.MAC) + " "
	}
	return text + "iface " + n.If + " "
}
