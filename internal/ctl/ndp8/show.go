package ndp8

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/inaddr"
)

// xoVersion is the version of the JSON (NDP_XO_VERSION).
const xoVersion = "1"

// Widths of columns (W_ADDR, W_LL, W_IF). What is too long for one takes from the next.
const (
	addrWidth   = 36
	linkWidth   = 17
	ifWidth     = 6
	expireWidth = 9
)

// scoped is the address of an entry, with its interface if it is link-local.
func scoped(n inet.Neighbour) netip.Addr {
	if n.Addr.IsLinkLocalUnicast() {
		return n.Addr.WithZone(n.If)
	}
	return n.Addr
}

// table shows entries (print_entries_nl).
func (r *run) table(list []inet.Neighbour) {
	if r.j != nil {
		r.j.List("neighbor-cache", func() {
			for _, n := range list {
				r.j.Item(func() { r.fields(n) })
			}
		})
		return
	}
	var b strings.Builder
	if !r.stamps {
		fmt.Fprintf(&b, "%-*s %-*s %*s %-*s %1s %5s\n", addrWidth, "Neighbor", linkWidth, "Linklayer Address", ifWidth, "Netif", expireWidth, "Expire", "S", "Flags")
	}
	for _, n := range list {
		if r.stamps {
			b.WriteString(r.now().Format("15:04:05.000000 "))
		}
		b.WriteString(line(n))
	}
	fmt.Fprint(r.Stdout, b.String())
}

// linkText is the link address of an entry.
func linkText(n inet.Neighbour) string {
	if !n.Complete {
		return "(incomplete)"
	}
	return inaddr.EtherText(n.MAC)
}

// line is an entry.
func line(n inet.Neighbour) string {
	host, link := scoped(n).String(), linkText(n)
	aw := max(addrWidth, len(host))
	lw := max(len(link), addrWidth+linkWidth-aw)
	iw := max(len(n.If), addrWidth+linkWidth+ifWidth-aw-lw)
	expire := "permanent"
	switch {
	case n.Permanent:
	case seconds(n) > 0:
		expire = duration(n.Expires)
	default:
		expire = "expired"
	}
	text := fmt.Sprintf("%-*s %-*s %*s %-*.*s %s %s", aw, host, lw, link, iw, n.If, expireWidth, expireWidth, expire, state(n), flags(n))
	if n.Probes > 0 {
		text += fmt.Sprintf(" %d", n.Probes)
	}
	return text + "\n"
}

// seconds is how many an entry has left.
func seconds(n inet.Neighbour) int { return int(n.Expires / time.Second) }

// state is the letter of an entry's state. What is permanent is reachable.
func state(n inet.Neighbour) string {
	switch n.State {
	case inet.NeighbourIncomplete:
		return "I"
	case inet.NeighbourStale:
		return "S"
	case inet.NeighbourDelay:
		return "D"
	case inet.NeighbourProbe:
		return "P"
	}
	return "R"
}

func flags(n inet.Neighbour) string {
	text := ""
	if n.Router {
		text += "R"
	}
	if n.Published {
		text += "p"
	}
	return text
}

// duration is a time as sec2str writes it: 23h59m59s.
func duration(d time.Duration) string {
	const (
		perMinute = 60
		perHour   = 60
		perDay    = 24
	)
	total := int(d / time.Second)
	text := ""
	for _, unit := range [...]struct {
		n    int
		name string
	}{
		{total / (perMinute * perHour * perDay), "d"}, {total / (perMinute * perHour) % perDay, "h"}, {total / perMinute % perHour, "m"},
	} {
		if text != "" || unit.n > 0 {
			text += fmt.Sprintf("%d%s", unit.n, unit.name)
		}
	}
	return text + fmt.Sprintf("%ds", total%perMinute)
}

// fields are those of an entry in JSON.
func (r *run) fields(n inet.Neighbour) {
	if r.stamps {
		now := r.now()
		r.j.Field("tv_sec", now.Unix())
		r.j.Field("tv_usec", now.Nanosecond()/int(time.Microsecond))
	}
	r.j.Field("address", scoped(n))
	r.j.Field("mac-address", linkText(n))
	r.j.Field("interface", n.If)
	if n.Permanent {
		r.j.Field("permanent", true)
	} else {
		r.j.Field("expires_sec", seconds(n))
	}
	r.j.Field("neighbor-state", state(n))
	r.j.Field("nd-flags", flags(n))
}
