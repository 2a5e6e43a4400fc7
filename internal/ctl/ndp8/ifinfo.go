package ndp8

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// flagWords are the flags that the tool knows, in its order.
var flagWords = [...]struct {
	word string
	flag inet.ND6Flags
}{
	{"disabled", inet.ND6IfDisabled}, {"nud", inet.ND6PerformNUD}, {"accept_rtadv", inet.ND6AcceptRTAdv},
	{"auto_linklocal", inet.ND6AutoLinkLocal}, {"no_prefer_iface", inet.ND6NoPreferIface},
}

// What the times of an interface begin with and, as no router says others, stay (RFC 4861 10).
const (
	baseReachable = 30_000 // ms
	reachable     = 30     // s; FreeBSD varies it at random
	retrans       = 1_000  // ms
	hopLimit      = "net.inet6.ip6.hlim"
	perSecond     = 1000
)

// interfaceInfo sets flags of an interface, with a minus clears them, and shows what there
// is (ifinfo). Words that are no flags change nothing, as with FreeBSD's tool.
func (r *run) interfaceInfo(name string, words []string) error {
	ifp, err := r.interfaceByName(name, "SIOCGIFINFO_IN6")
	if err != nil {
		return err
	}
	for _, word := range words {
		for _, value := range [...]string{"basereachable", "retrans", "curhlim"} {
			if strings.HasPrefix(word, value) {
				return tool.Messagef("%s: not available", value)
			}
		}
		bare, clear := strings.CutPrefix(word, "-")
		for _, f := range flagWords {
			if f.word != bare {
				continue
			}
			set, unset := f.flag, inet.ND6Flags(0)
			if clear {
				set, unset = 0, f.flag
			}
			if err := inet.SetND6Options(ifp, set, unset); err != nil {
				return err
			}
		}
	}
	hlim, err := r.k.Sysctl.Text(hopLimit)
	if err != nil {
		return err
	}
	r.showInfo(ifp, hlim)
	return nil
}

// showInfo prints the state of an interface.
func (r *run) showInfo(ifp *ifnet.Ifnet, hlim string) {
	flags := inet.ND6Options(ifp)
	var names []string
	for _, f := range flagWords {
		if flags&f.flag != 0 {
			names = append(names, f.word)
		}
	}
	if r.j != nil {
		r.infoJSON(ifp, hlim, flags, names)
		return
	}
	fmt.Fprintf(r.Stdout, "linkmtu=%d, maxmtu=0, curhlim=%s, basereachable=%ds%dms, reachable=%ds, retrans=%ds%dms", ifp.MTU(), hlim,
		baseReachable/perSecond, baseReachable%perSecond, reachable, retrans/perSecond, retrans%perSecond)
	if flags != 0 {
		fmt.Fprint(r.Stdout, "\nFlags: ")
		for _, name := range names {
			fmt.Fprint(r.Stdout, name, " ")
		}
	}
	fmt.Fprintln(r.Stdout)
}

func (r *run) infoJSON(ifp *ifnet.Ifnet, hlim string, flags inet.ND6Flags, names []string) {
	r.j.Object("ifinfo", func() {
		r.j.Field("interface", ifp.Name())
		r.j.Field("linkmtu", ifp.MTU())
		r.j.Field("maxmtu", 0)
		r.j.Field("curhlim", json.Number(hlim))
		r.j.Field("basereachable_ms", baseReachable)
		r.j.Field("reachable_ms", reachable*perSecond)
		r.j.Field("retrans_ms", retrans)
		if flags == 0 {
			return
		}
		r.j.Field("flags", uint32(flags))
		r.j.List("flags_pretty", func() {
			for _, name := range names {
				r.j.Value(name)
			}
		})
	})
}

// prefix is a network of an interface.
type prefix struct {
	netip.Prefix
	ifname    string
	linkLocal bool
	refs      int // addresses
}

// prefixes lists the networks of the interfaces (plist). All are for ever.
func (r *run) prefixes() error {
	var list []*prefix
	for _, ifp := range ifnet.List(r.k) {
		byNet := make(map[netip.Prefix]*prefix)
		for _, a := range inet.Addrs(ifp) {
			network := a.Prefix.Masked()
			if a.Prefix.Addr().Is4() || network.IsSingleIP() {
				continue
			}
			p := byNet[network]
			if p == nil {
				p = &prefix{Prefix: network, ifname: ifp.Name(), linkLocal: a.Scope != 0}
				byNet[network] = p
				list = append(list, p)
			}
			if !p.linkLocal { // FreeBSD counts none of those
				p.refs++
			}
		}
	}
	r.list("prefix-list", func() {
		for _, p := range list {
			r.showPrefix(p)
		}
	})
	return nil
}

// forEver is the life of a prefix that does not end (ND6_INFINITE_LIFETIME).
const forEver = 0xffffffff

func (r *run) showPrefix(p *prefix) {
	name, letters, words := p.String(), "LO", []string{"ra_onlink", "is_onlink"}
	if p.linkLocal {
		name = fmt.Sprintf("%s/%d", p.Addr().WithZone(p.ifname), p.Bits())
		letters, words = "LAO", []string{"ra_onlink", "ra_autonomous", "is_onlink"}
	}
	if r.j == nil {
		fmt.Fprintf(r.Stdout, "%s if=%s\nflags=%s vltime=infinity, pltime=infinity, expire=Never, ref=%d\n  No advertising router\n", name, p.ifname, letters, p.refs)
		return
	}
	r.j.Item(func() {
		r.j.Field("prefix", name)
		r.j.Field("interface", p.ifname)
		r.j.List("flags_pretty", func() {
			for _, w := range words {
				r.j.Value(w)
			}
		})
		r.j.Field("flags", letters)
		r.j.Field("valid-lifetime", uint32(forEver))
		r.j.Field("preferred-lifetime", uint32(forEver))
		r.j.Field("permanent", true)
		r.j.Field("refcount", p.refs)
	})
}
