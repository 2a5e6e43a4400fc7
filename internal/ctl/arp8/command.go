package arp8

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// action is what the tool is to do.
type action byte

const (
	get     action = 0
	set     action = 's'
	replace action = 'S'
	remove  action = 'd'
	file    action = 'f'
)

// run is one run of the tool.
type run struct {
	tool.IO
	k      *kern.Kernel
	format tool.Format

	do      action
	clash   bool // more than one was asked for
	all     bool // -a
	ifname  string
	byIface bool // -i
}

const usageText = tool.Usage(`usage: arp [-n] [-i interface] hostname
       arp [-n] [-i interface] -a
       arp -d hostname [pub]
       arp -d [-i interface] -a
       arp -s hostname ether_addr [temp] [reject | blackhole] [pub [only]]
       arp -S hostname ether_addr [temp] [reject | blackhole] [pub [only]]
       arp -f filename
`)

// Run runs arp(8) with the arguments behind the command's name on a kernel and returns its
// exit status: 0, or 1 for an entry that is not there and for what could not be done. Any
// goroutine.
func Run(_ context.Context, k *kern.Kernel, args []string, streams tool.IO) (exit int) {
	r := &run{IO: streams, k: k}
	return tool.Exit("arp", r.main(args), streams.Stderr)
}

func (r *run) main(args []string) error {
	format, args, err := tool.TakeFormat(args)
	if err != nil {
		return err
	}
	r.format = format
	args, err = tool.Flags("arp", usageText, getopt.Flags{Plain: r.flag, Valued: "i", Value: r.value}, args)
	if err != nil {
		return err
	}
	if r.clash {
		return usageText
	}
	if r.byIface {
		if r.do != get && !(r.do == remove && r.all) {
			return tool.Messagef("-i not applicable to this operation")
		}
		if ifnet.ByName(r.k, r.ifname) == nil {
			return tool.Messagef("interface %s does not exist", r.ifname)
		}
	}
	return r.act(args)
}

// flag takes a flag without argument; false if it is none.
func (r *run) flag(f byte) bool {
	switch f {
	case 'a':
		r.all = true
	case 'n': // there are no names
	case 'd', 'f', 's', 'S':
		r.clash = r.clash || r.do != get
		r.do = action(f)
	default:
		return false
	}
	return true
}

func (r *run) value(_ byte, value string) error {
	r.byIface, r.ifname = true, value
	return nil
}

// act does what was asked for.
func (r *run) act(args []string) error {
	const (
		setLeast = 2
		setMost  = 6
	)
	all := r.all && (r.do == get || r.do == remove)
	switch {
	case all && len(args) > 0:
		return usageText
	case all && r.do == get:
		return r.write(r.entries(netip.Addr{}))
	case all:
		return r.removeAll()
	case r.do == set || r.do == replace:
		if len(args) < setLeast || len(args) > setMost {
			return usageText
		}
		if r.do == replace { // whether there is one does not matter
			if err := r.remove(args[0]); err != nil {
				tool.Exit("arp", err, r.Stderr)
			}
		}
		return r.set(args)
	case r.do == remove && len(args) == 2 && args[1] == "pub":
		args = args[:1]
	}
	if len(args) != 1 {
		return usageText
	}
	switch r.do {
	case remove:
		return r.remove(args[0])
	case file:
		return r.EachLine("arp", args[0], r.set)
	}
	return r.get(args[0])
}

// address reads a host.
func address(host string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Is4() {
		return addr, tool.Messagef("%s: Unknown host", host)
	}
	return addr, nil
}

// entries are those of the table that are shown; of one address if it is valid.
func (r *run) entries(addr netip.Addr) (list []inet.Neighbour) {
	for _, n := range inet.ARPTable(r.k) {
		if (!r.byIface || n.If == r.ifname) && (!addr.IsValid() || n.Addr == addr) {
			list = append(list, n)
		}
	}
	return list
}

// get shows the entries of a host.
func (r *run) get(host string) error {
	addr, err := address(host)
	if err != nil {
		return err
	}
	list := r.entries(addr)
	if len(list) == 0 && !r.format.JSON {
		on := ""
		if r.byIface {
			on = " on " + r.ifname
		}
		fmt.Fprintf(r.Stdout, "%s (%s) -- no entry%s\n", host, addr, on)
	} else if err := r.write(list); err != nil {
		return err
	}
	if len(list) == 0 {
		return tool.Status{Code: tool.Failure}
	}
	return nil
}

// remove deletes the entry of a host.
func (r *run) remove(host string) error {
	addr, err := address(host)
	if err != nil {
		return err
	}
	if route, err := inet.RouteTo(r.k, addr); err != nil || !route.OnLink() {
		return tool.Messagef("delete: cannot locate %s", host)
	}
	if err := inet.DelNeighbour(r.k, addr); err != nil {
		return tool.Messagef("delete %s: %s", host, sysctl.Strerror(err))
	}
	_, err = fmt.Fprintf(r.Stdout, "%s (%s) deleted\n", host, addr)
	return err
}

// removeAll deletes all entries but this machine's own.
func (r *run) removeAll() error {
	for _, n := range r.entries(netip.Addr{}) {
		if n.Own {
			continue
		}
		if err := r.remove(n.Addr.String()); err != nil {
			tool.Exit("arp", err, r.Stderr)
		}
	}
	return nil
}
