package arp8

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/inaddr"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// Set makes an entry of the words that stand behind arp -s, as rc.conf has them too. An
// error is the tool's to print; it wraps ENETUNREACH if the address is on no network of the
// machine. say gets what the tool prints.
func Set(k *kern.Kernel, words []string, say func(text string)) error {
	const pair = 2
	if len(words) < pair {
		return usageText
	}
	addr, err := address(words[0])
	if err != nil {
		return err
	}
	req := inet.NeighbourReq{Addr: addr}
	if err := options(&req, words[pair:]); err != nil {
		return err
	}
	if req.Publish && words[1] == "auto" {
		ifp := proxyInterface(k, addr)
		if ifp == nil {
			return tool.Messagef("no interface found for %s", addr)
		}
		req.MAC = ifp.MAC()
		say(fmt.Sprintf("using interface %s for proxy with address %s\n", ifp.Name(), inaddr.EtherText(req.MAC)))
	} else if mac, ok := inaddr.Ether(words[1]); ok {
		req.MAC = mac
	} else {
		return tool.Messagef("invalid Ethernet address '%s'", words[1])
	}
	switch err := inet.AddNeighbour(k, req); {
	case errors.Is(err, syscall.ENETUNREACH):
		return tool.Sayf(err, "delete: cannot locate %s", words[0])
	case err != nil:
		return tool.Sayf(err, "set %s: %s", words[0], sysctl.Strerror(err))
	}
	return nil
}

// options takes the words behind the link address.
func options(req *inet.NeighbourReq, words []string) error {
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "temp":
			req.Temp = true
		case "pub":
			req.Publish = true
			if i+1 < len(words) && words[i+1] == "only" { // of old, and means nothing
				i++
			}
		case "reject", "blackhole":
			return tool.Messagef("%s: not available", words[i])
		default:
			return tool.Usage(fmt.Sprintf("arp: Invalid parameter '%s'\n%s", words[i], usageText))
		}
	}
	return nil
}

// proxyInterface is the interface that answers for a neighbour: it is up and on its
// network. Nil if there is none.
func proxyInterface(k *kern.Kernel, addr netip.Addr) *ifnet.Ifnet {
	const mask = ifnet.FlagUp | ifnet.FlagBroadcast | ifnet.FlagLoopback | ifnet.FlagNoARP
	for _, ifp := range ifnet.List(k) {
		if ifp.Flags()&mask != ifnet.FlagUp|ifnet.FlagBroadcast {
			continue
		}
		for _, a := range inet.Addrs(ifp) {
			if a.Prefix.Contains(addr) {
				return ifp
			}
		}
	}
	return nil
}

func (r *run) set(words []string) error {
	return Set(r.k, words, func(text string) { fmt.Fprint(r.Stdout, text) })
}
