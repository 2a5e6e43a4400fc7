package arp8

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/inaddr"
)

// xoVersion is the version of the JSON (ARP_XO_VERSION).
const xoVersion = "1"

// typeNames are the kinds of links as the tool names them.
var typeNames = map[ifnet.Type]string{ifnet.TypeEther: "ethernet", ifnet.TypeVLAN: "vlan"}

// write shows entries (print_entry).
func (r *run) write(list []inet.Neighbour) error {
	if r.format.JSON {
		return writeJSON(r.Stdout, r.format, list)
	}
	var b strings.Builder
	for _, n := range list {
		b.WriteString(line(n))
	}
	_, err := io.WriteString(r.Stdout, b.String())
	return err
}

// line is an entry.
func line(n inet.Neighbour) string {
	at := "(incomplete)"
	if n.Complete {
		at = inaddr.EtherText(n.MAC)
	}
	text := fmt.Sprintf("? (%s) at %s on %s", n.Addr, at, n.If)
	switch seconds := n.Expires / time.Second; {
	case n.Permanent:
		text += " permanent"
	case seconds > 0:
		text += fmt.Sprintf(" expires in %d seconds", seconds)
	default:
		text += " expired"
	}
	if n.Published {
		text += " published"
	}
	if name, ok := typeNames[n.IfType]; ok {
		text += " [" + name + "]"
	}
	return text + "\n"
}

func writeJSON(w io.Writer, format tool.Format, list []inet.Neighbour) error {
	j := format.NewJSON(w, xoVersion)
	j.Object("arp", func() {
		j.List("arp-cache", func() {
			for _, n := range list {
				j.Item(func() { fields(j, n) })
			}
		})
	})
	return j.Close()
}

func fields(j *tool.JSON, n inet.Neighbour) {
	j.Field("hostname", "?")
	j.Field("ip-address", n.Addr)
	if n.Complete {
		j.Field("mac-address", inaddr.EtherText(n.MAC))
	} else {
		j.Field("incomplete", true)
	}
	j.Field("interface", n.If)
	switch seconds := n.Expires / time.Second; {
	case n.Permanent:
		j.Field("permanent", true)
	case seconds > 0:
		j.Field("expires", int(seconds))
	default:
		j.Field("expired", true)
	}
	if n.Published {
		j.Field("published", true)
	}
	if name, ok := typeNames[n.IfType]; ok {
		j.Field("type", name)
	}
}
