package netstat8

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/kern"
)

// Least widths of columns.
const (
	nameWidth    = 5
	mtuWidth     = 6
	networkWidth = 8
	addressWidth = 8
	packetWidth  = 8
	errorWidth   = 5
	byteWidth    = 10
)

// row is a line: an interface, or an address of one.
type row struct {
	name, network, address string
	ifname                 string // name without the mark of an interface that is down
	flags                  ifnet.Flags
	groups                 []string // with -a
	imcasts, omcasts       uint64
	mtu                    int
	link                   bool     // the interface itself
	family                 ifnet.AF // of an address
	in, out                flow
	ierrors, idrops        uint64
	oerrors, collisions    uint64
	odrops                 uint64
}

// flow is what went one way.
type flow struct{ packets, bytes uint64 }

// table is what is shown.
type table struct {
	o    options
	rows []row

	name, network, address  int // widths
	packets, errors, octets int
}

// collect makes the rows, each interface followed by its addresses.
func (t *table) collect(k *kern.Kernel) {
	for _, ifp := range ifnet.List(k) {
		if t.o.only != "" && t.o.only != ifp.Name() {
			continue
		}
		name := ifp.Name()
		if ifp.Flags()&ifnet.FlagUp == 0 {
			name += "*"
		}
		first := len(t.rows)
		if t.shows(ifnet.AFLink) {
			t.rows = append(t.rows, linkRow(ifp, name))
		}
		for _, a := range inet.Addrs(ifp) {
			if a.Prefix.Addr().Is4() && t.shows(ifnet.AFInet) || a.Prefix.Addr().Is6() && t.shows(ifnet.AFInet6) {
				t.rows = append(t.rows, addrRow(a, name))
			}
		}
		for i := first; i < len(t.rows); i++ {
			t.rows[i].ifname, t.rows[i].flags = ifp.Name(), ifp.ReportedFlags()
			if t.o.multicast {
				t.rows[i].groups = groups(ifp, &t.rows[i])
			}
		}
	}
}

// groups are the multicast addresses of the row's family that the interface receives.
func groups(ifp *ifnet.Ifnet, r *row) (list []string) {
	if r.link {
		for mac := range ifp.Multiaddrs {
			list = append(list, net.HardwareAddr(mac[:]).String())
		}
		return list
	}
	for _, g := range inet.Groups(ifp, r.family) {
		list = append(list, zoned(g, ifp.Name()))
	}
	return list
}

func (t *table) shows(af ifnet.AF) bool { return t.o.family == 0 || t.o.family == af }

func linkRow(ifp *ifnet.Ifnet, name string) row {
	r := row{name: name, mtu: ifp.MTU(), link: true, network: fmt.Sprintf("<Link#%d>", ifp.Index()), address: ifp.Name()}
	if t := ifp.Type(); t == ifnet.TypeEther || t == ifnet.TypeVLAN {
		mac := ifp.MAC()
		r.address = net.HardwareAddr(mac[:]).String()
	}
	r.in = flow{ifp.GetCounter(ifnet.CounterIPackets), ifp.GetCounter(ifnet.CounterIBytes)}
	r.out = flow{ifp.GetCounter(ifnet.CounterOPackets), ifp.GetCounter(ifnet.CounterOBytes)}
	r.ierrors, r.idrops = ifp.GetCounter(ifnet.CounterIErrors), ifp.GetCounter(ifnet.CounterIQDrops)
	r.oerrors, r.odrops = ifp.GetCounter(ifnet.CounterOErrors), ifp.GetCounter(ifnet.CounterOQDrops)
	r.collisions = ifp.GetCounter(ifnet.CounterCollisions)
	r.imcasts, r.omcasts = ifp.GetCounter(ifnet.CounterIMcasts), ifp.GetCounter(ifnet.CounterOMcasts)
	return r
}

func addrRow(a inet.Addr, name string) row {
	addr, zone := a.Prefix.Addr(), ""
	if a.Scope != 0 {
		zone = "%" + a.If
	}
	return row{
		name:    name,
		network: netip.PrefixFrom(addr, a.Prefix.Bits()).Masked().Addr().String() + zone + "/" + strconv.Itoa(a.Prefix.Bits()),
		address: addr.String() + zone,
		family:  family(addr),
		in:      flow{a.In.Packets, a.In.Bytes}, out: flow{a.Out.Packets, a.Out.Bytes},
	}
}

// measure finds the widths. Output errors take what width there is.
func (t *table) measure() {
	t.name, t.network, t.address = nameWidth, networkWidth, addressWidth
	t.packets, t.errors, t.octets = packetWidth, errorWidth, byteWidth
	for i := range t.rows {
		r := &t.rows[i]
		t.name = max(t.name, len(r.name))
		t.network = max(t.network, len(r.network))
		t.address = max(t.address, len(r.address))
		if t.o.human {
			continue
		}
		t.packets = max(t.packets, width(r.in.packets), width(r.out.packets))
		t.octets = max(t.octets, width(r.in.bytes), width(r.out.bytes))
		t.errors = max(t.errors, width(r.ierrors), width(r.idrops), width(r.collisions), width(r.odrops))
	}
}

// width is the room for a number: a digit more than it has, but for powers of ten.
func width(v uint64) int {
	const ten = 10
	n := 2
	for ; v > ten; v /= ten {
		n++
	}
	return n
}

// write prints the table.
func (t *table) write(w io.Writer) error {
	t.measure()
	var b bytes.Buffer
	t.header(&b)
	for i := range t.rows {
		t.line(&b, &t.rows[i])
		t.groupLines(&b, &t.rows[i])
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (t *table) header(b *bytes.Buffer) {
	fmt.Fprintf(b, "%-*s %*s %-*s  %-*s", t.name, "Name", mtuWidth-1, "Mtu", t.network, "Network", t.address, "Address")
	fmt.Fprintf(b, " %*s %*s %*s", t.packets, "Ipkts", t.errors, "Ierrs", t.errors, "Idrop")
	if t.o.bytes {
		fmt.Fprintf(b, " %*s", t.octets, "Ibytes")
	}
	fmt.Fprintf(b, " %*s %*s", t.packets, "Opkts", t.errors, "Oerrs")
	if t.o.bytes {
		fmt.Fprintf(b, " %*s", t.octets, "Obytes")
	}
	fmt.Fprintf(b, " %*s", t.errors, "Coll")
	if t.o.drops {
		fmt.Fprintf(b, " %*s", t.errors, "Drop")
	}
	b.WriteByte('\n')
}

func (t *table) line(b *bytes.Buffer, r *row) {
	mtu := "-"
	if r.link {
		mtu = strconv.Itoa(r.mtu)
	}
	fmt.Fprintf(b, "%-*s%*s %-*s  %-*s ", t.name, r.name, mtuWidth, mtu, t.network, r.network, t.address, r.address)
	fmt.Fprintf(b, "%*s %*s %*s ", t.packets, t.count(r.in.packets), t.errors, t.ofLink(r, r.ierrors), t.errors, t.ofLink(r, r.idrops))
	if t.o.bytes {
		fmt.Fprintf(b, "%*s ", t.octets, t.size(r.in.bytes))
	}
	fmt.Fprintf(b, "%*s %*s ", t.packets, t.count(r.out.packets), t.errors, t.ofLink(r, r.oerrors))
	if t.o.bytes {
		fmt.Fprintf(b, "%*s ", t.octets, t.size(r.out.bytes))
	}
	fmt.Fprintf(b, "%*s", t.errors, t.ofLink(r, r.collisions))
	if t.o.drops {
		fmt.Fprintf(b, " %*s ", t.errors, t.ofLink(r, r.odrops))
	}
	b.WriteByte('\n')
}

// Widths of a line with a multicast address: of the blanks before it, of itself, and of
// those between its two numbers.
const (
	groupIndent     = 26
	groupIndentWide = 28
	groupWidth      = 17
	groupGap        = 6
	groupGapBytes   = 17
)

// groupLines prints the multicast addresses of a row, with -a.
func (t *table) groupLines(b *bytes.Buffer, r *row) {
	indent, gap := groupIndent, groupGap
	if t.o.wide {
		indent = groupIndentWide
	}
	if t.o.bytes {
		gap = groupGapBytes
	}
	for _, g := range r.groups {
		if !t.o.wide {
			g = g[:min(len(g), groupWidth)]
		}
		fmt.Fprintf(b, "%*s%-*s", indent, "", groupWidth, g)
		if r.link {
			fmt.Fprintf(b, " %*d%*s %*d", packetWidth, r.imcasts, gap, "", packetWidth, r.omcasts)
		}
		b.WriteByte('\n')
	}
}

// family is that of an address.
func family(a netip.Addr) ifnet.AF {
	if a.Is4() {
		return ifnet.AFInet
	}
	return ifnet.AFInet6
}

// ofLink is a number that only interfaces have.
func (t *table) ofLink(r *row, v uint64) string {
	if !r.link {
		return "-"
	}
	return t.count(v)
}

// count is a number of packets.
func (t *table) count(v uint64) string { return t.number(v, decimal, "kMGTPE") }

// size is a number of bytes.
func (t *table) size(v uint64) string { return t.number(v, binary, "KMGTPE") }

func (t *table) number(v, unit uint64, suffixes string) string {
	if t.o.human {
		return humanize(v, unit, suffixes)
	}
	return strconv.FormatUint(v, decimalBase)
}
