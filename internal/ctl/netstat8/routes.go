package netstat8

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
)

// Widths of the columns of -r; expire times there are none.
const (
	destWidth       = 18
	gatewayWidth    = 18
	dest6Width      = 33 // of IPv6 in numbers
	gateway6Width   = 29
	flagsWidth      = 6
	nhopWidth       = 6
	routeMTUWidth   = 6
	netifWidth      = 12
	netifWideWidth  = 16 // IFNAMSIZ
	expireWidth     = 6
	defaultWeight   = 1
	loopName        = "lo0"
	internet        = "Internet"
	internet6       = "Internet6"
	destinationText = "default"
)

// routeFlags are the flags of routes, in the order in which they are shown (rt_bits).
var routeFlags = [...]struct {
	bit    inet.RouteFlags
	letter string
	name   string
}{
	{inet.RouteUp, "U", "up"}, {inet.RouteGateway, "G", "gateway"}, {inet.RouteHost, "H", "host"}, {inet.RouteReject, "R", "reject"},
	{inet.RouteStatic, "S", "static"}, {inet.RouteProto1, "1", "proto1"}, {inet.RouteProto2, "2", "proto2"}, {inet.RouteBlackhole, "B", "blackhole"},
}

// routeRow is a line of -r.
type routeRow struct {
	dest, gateway, flags string
	names                []string // of the flags
	nhop, mtu            int
	netif                string
}

// routeTable is a family's part.
type routeTable struct {
	family string
	rows   []routeRow
}

// routeTables are the routes of the families that the options choose.
func (o options) routeTables(k *kern.Kernel) (tables []routeTable) {
	routes := inet.Routes(k)
	slices.SortStableFunc(routes, compareRoutes)
	hops := nexthops{loop: loopIndex(k)}
	for _, f := range [...]struct {
		name string
		af   ifnet.AF
		is   func(netip.Addr) bool
	}{{internet, ifnet.AFInet, netip.Addr.Is4}, {internet6, ifnet.AFInet6, netip.Addr.Is6}} {
		if o.family != 0 && o.family != f.af {
			continue
		}
		t := routeTable{family: f.name}
		hops.seen = nil // each family has its own
		for _, r := range routes {
			if f.is(r.Prefix.Addr()) {
				t.rows = append(t.rows, hops.row(r))
			}
		}
		if len(t.rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// compareRoutes orders routes as the kernel's tree does: by address, then the longer
// prefix first.
func compareRoutes(a, b inet.Route) int {
	if c := a.Prefix.Addr().Compare(b.Prefix.Addr()); c != 0 {
		return c
	}
	if a.Prefix.Bits() != b.Prefix.Bits() {
		return b.Prefix.Bits() - a.Prefix.Bits()
	}
	return a.Index - b.Index
}

// loopIndex is the index of lo0, 0 if there is none.
func loopIndex(k *kern.Kernel) int {
	if ifp := ifnet.ByName(k, loopName); ifp != nil {
		return ifp.Index()
	}
	return 0
}

// nexthops numbers where routes lead, in the order in which they come (nhop_object). A
// machine without lo0 has its own addresses at the interfaces that they belong to.
type nexthops struct {
	loop int
	seen []routeRow
}

func (h *nexthops) row(r inet.Route) routeRow {
	row := routeRow{dest: destination(r), netif: r.If, mtu: r.MTU}
	index := r.Index
	if r.Local {
		row.netif = loopName
	}
	if (r.Local || index == 0) && h.loop != 0 {
		index = h.loop
	}
	row.gateway = fmt.Sprintf("link#%d", index)
	if r.Gateway.IsValid() {
		row.gateway = zoned(r.Gateway, r.If)
	}
	for _, f := range routeFlags {
		if r.Flags&f.bit != 0 {
			row.flags += f.letter
			row.names = append(row.names, f.name)
		}
	}
	same := func(o routeRow) bool {
		return o.gateway == row.gateway && o.netif == row.netif && o.flags == row.flags
	}
	n := slices.IndexFunc(h.seen, same)
	if n < 0 {
		n = len(h.seen)
		h.seen = append(h.seen, row)
	}
	row.nhop = n + 1
	return row
}

// zoned is an address with its interface if it is one of a link.
func zoned(a netip.Addr, ifname string) string {
	if a.Is6() && (a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast()) {
		a = a.WithZone(ifname)
	}
	return a.String()
}

// destination is a host, a network, or "default".
func destination(r inet.Route) string {
	switch {
	case r.Prefix.Bits() == 0:
		return destinationText
	case r.Prefix.IsSingleIP():
		return zoned(r.Prefix.Addr(), r.If)
	}
	return fmt.Sprintf("%s/%d", zoned(r.Prefix.Addr(), r.If), r.Prefix.Bits())
}

// showRoutes prints the routing table (routepr).
func (o options) showRoutes(w io.Writer, k *kern.Kernel) error {
	tables := o.routeTables(k)
	if o.format.JSON {
		return o.routesJSON(w, tables)
	}
	var b bytes.Buffer
	b.WriteString("Routing tables\n")
	for _, t := range tables {
		fmt.Fprintf(&b, "\n%s:\n", t.family)
		l := o.routeLayout(t.family)
		l.header(&b)
		for _, r := range t.rows {
			l.line(&b, r)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// routeLayout is how a family's routes are laid out.
type routeLayout struct {
	dest, gateway, netif int
	wide, cut            bool // cut: what is too long loses its end
}

func (o options) routeLayout(family string) routeLayout {
	l := routeLayout{destWidth, gatewayWidth, netifWidth, o.wide, !o.wide && !o.numeric}
	if family == internet6 && o.numeric {
		l.dest, l.gateway = dest6Width, gateway6Width
	}
	if o.wide {
		l.netif = netifWideWidth
	}
	return l
}

func (l routeLayout) header(b *bytes.Buffer) {
	fmt.Fprintf(b, "%-*s %-*s %-*s", l.dest, "Destination", l.gateway, "Gateway", flagsWidth, "Flags")
	if l.wide {
		fmt.Fprintf(b, " %*s %*s", nhopWidth, "Nhop#", routeMTUWidth, "Mtu")
	}
	fmt.Fprintf(b, " %*s %*s\n", l.netif, "Netif", expireWidth, "Expire")
}

func (l routeLayout) line(b *bytes.Buffer, r routeRow) {
	dest, gateway, netif := r.dest, r.gateway, r.netif
	if l.cut {
		dest, gateway = dest[:min(len(dest), l.dest)], gateway[:min(len(gateway), l.gateway)]
	}
	if !l.wide {
		netif = netif[:min(len(netif), l.netif)]
	}
	// What is too long takes from the next column.
	over := max(0, len(dest)-l.dest)
	fmt.Fprintf(b, "%-*s ", l.dest, dest)
	width := max(0, l.gateway-over)
	over = max(0, len(gateway)-width)
	fmt.Fprintf(b, "%-*s %-*s ", width, gateway, max(0, flagsWidth-over), r.flags)
	if l.wide {
		mtu := ""
		if r.mtu != 0 {
			mtu = fmt.Sprint(r.mtu)
		}
		fmt.Fprintf(b, "%*d %*s ", nhopWidth, r.nhop, routeMTUWidth, mtu)
	}
	fmt.Fprintf(b, "%*s\n", l.netif, netif)
}

func (o options) routesJSON(w io.Writer, tables []routeTable) error {
	j := o.format.NewJSON(w, xoVersion)
	j.Object("statistics", func() {
		j.Object("route-information", func() {
			j.Object("route-table", func() {
				j.List("rt-family", func() {
					for _, t := range tables {
						j.Item(func() { o.familyJSON(j, t) })
					}
				})
			})
		})
	})
	return j.Close()
}

func (o options) familyJSON(j *tool.JSON, t routeTable) {
	j.Field("address-family", t.family)
	j.List("rt-entry", func() {
		for _, r := range t.rows {
			j.Item(func() { o.routeJSON(j, r) })
		}
	})
}

func (o options) routeJSON(j *tool.JSON, r routeRow) {
	j.Field("destination", r.dest)
	j.Field("gateway", r.gateway)
	j.Field("flags", r.flags)
	j.List("flags_pretty", func() {
		for _, name := range r.names {
			j.Value(name)
		}
	})
	j.Field("weight", defaultWeight)
	j.Field("nhop-kidx", r.nhop)
	if o.wide {
		j.Field("nhop", r.nhop)
		if r.mtu != 0 {
			j.Field("mtu", r.mtu)
		}
	}
	j.Field("interface-name", strings.TrimSpace(r.netif))
}
