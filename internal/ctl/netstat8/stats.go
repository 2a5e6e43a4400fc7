package netstat8

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
)

// statLine is a line of -s.
type statLine struct {
	counter string // its name among the protocol's; "": what does not happen here
	json    string
	// text follows the number; %s, %es and %ies are endings of a plural.
	text string
	// more is behind the number and text, in the same line.
	more *statLine
}

// protocol is what -s shows of one.
type protocol struct {
	name  string
	oid   string // node of the counters
	af    ifnet.AF
	lines []statLine
	// last is a line without a number, or "".
	last, lastJSON, lastValue string
}

// protocols are those that there are, in FreeBSD's order.
var protocols = [...]protocol{
	{name: "ip", oid: "net.inet.ip.stats", af: ifnet.AFInet, lines: ipLines},
	{name: "icmp", oid: "net.inet.icmp.stats", af: ifnet.AFInet, lines: icmpLines,
		last: "ICMP address mask responses are disabled", lastJSON: "icmp-address-responses", lastValue: "disabled"},
	{name: "arp", oid: "net.link.ether.arp.stats", af: ifnet.AFInet, lines: arpLines},
	{name: "ip6", oid: "net.inet6.ip6.stats", af: ifnet.AFInet6, lines: ip6Lines},
	{name: "icmp6", oid: "net.inet6.icmp6.stats", af: ifnet.AFInet6, lines: icmp6Lines},
}

func protocolOf(name string) (p *protocol, ok bool) {
	for i := range protocols {
		if protocols[i].name == name {
			return &protocols[i], true
		}
	}
	return nil, false
}

// counted is a line with its numbers.
type counted struct {
	*statLine
	n, more uint64
}

// count reads the counters of a protocol. With -ss lines of zeros are left out.
func (p *protocol) count(k *kern.Kernel, zeros bool) (list []counted, err error) {
	read := func(l *statLine) (n uint64) {
		if l == nil || l.counter == "" || err != nil {
			return 0
		}
		var text string
		if text, err = k.Sysctl.Text(p.oid + "." + l.counter); err == nil {
			n, err = strconv.ParseUint(text, decimalBase, 64)
		}
		return n
	}
	for i := range p.lines {
		c := counted{statLine: &p.lines[i], n: read(&p.lines[i]), more: read(p.lines[i].more)}
		if zeros || c.n > 0 {
			list = append(list, c)
		}
	}
	return list, err
}

// plural puts the endings into a text.
func plural(text string, n uint64) string {
	es, ies, s := "es", "ies", "s"
	if n == 1 {
		es, ies, s = "", "y", ""
	}
	return strings.NewReplacer("%ies", ies, "%es", es, "%s", s).Replace(text)
}

// showStats prints the counters of all protocols, or one.
func (o options) showStats(w io.Writer, k *kern.Kernel) error {
	var b bytes.Buffer
	j := o.format.NewJSON(w, xoVersion)
	var err error
	j.Object("statistics", func() {
		for i := range protocols {
			p := &protocols[i]
			if err != nil || o.protocol != "" && o.protocol != p.name || o.protocol == "" && o.family != 0 && o.family != p.af {
				continue
			}
			var list []counted
			list, err = p.count(k, o.stats == 1)
			p.write(&b, list)
			j.Object(p.name, func() {
				for _, c := range list {
					j.Field(c.json, c.n)
					if c.statLine.more != nil {
						j.Field(c.statLine.more.json, c.more)
					}
				}
				if p.last != "" {
					j.Field(p.lastJSON, p.lastValue)
				}
			})
		}
	})
	switch {
	case err != nil:
		return err
	case o.format.JSON:
		return j.Close()
	}
	_, err = w.Write(b.Bytes())
	return err
}

// write prints a protocol's lines.
func (p *protocol) write(b *bytes.Buffer, list []counted) {
	b.WriteString(p.name + ":\n")
	for _, c := range list {
		fmt.Fprintf(b, "\t%d %s", c.n, plural(c.text, c.n))
		if m := c.statLine.more; m != nil {
			fmt.Fprintf(b, " (%d %s)", c.more, plural(m.text, c.more))
		}
		b.WriteByte('\n')
	}
	if p.last != "" {
		b.WriteString("\t" + p.last + "\n")
	}
}
