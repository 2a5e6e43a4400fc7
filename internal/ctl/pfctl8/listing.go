package pfctl8

import (
	"fmt"
	"io"
	"strings"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
)

// avgMax is how many listings an average covers (AVGN_MAX).
const avgMax = 8

// listing is the tree of queues over the listings of one run (struct pf_altq_node).
type listing struct {
	ticket uint64
	nodes  []*node // in order of definition
	roots  []*node
}

// node is a queue, or an interface that stands in the list itself.
type node struct {
	info     pf.QueueInfo
	children []*node

	n                    int // listings so far, at most avgMax
	prev                 altq.Counter
	avgPackets, avgBytes float64 // per interval
}

// update takes another listing in. Of other queues than before a new one begins.
func (l *listing) update(list []pf.QueueInfo, ticket uint64) {
	if ticket != l.ticket {
		*l = listing{ticket: ticket}
	}
	byName := make(map[string]*node)
	for _, n := range l.nodes {
		byName[n.key()] = n
	}
	l.nodes = nil
	for _, q := range list {
		// An interface stands for itself if it has no queues, or is not there.
		if q.Qname == "" && q.Scheduler != altq.TypeCoDel && !q.Removed {
			continue
		}
		fresh := &node{info: q}
		n := byName[fresh.key()]
		if n == nil {
			n = fresh
			byName[n.key()] = n
		}
		n.info, n.children = q, nil
		n.measure()
		l.nodes = append(l.nodes, n)
	}
	l.roots = nil
	for _, n := range l.nodes {
		if parent := byName[key(n.info.Ifname, n.info.Parent)]; n.info.Parent != "" && parent != nil {
			parent.children = append(parent.children, n)
		} else {
			l.roots = append(l.roots, n)
		}
	}
}

// key tells queues apart.
func key(ifname, qname string) string { return ifname + ":" + qname }

func (n *node) key() string { return key(n.info.Ifname, n.info.Qname) }

// measure moves the averages on (update_avg).
func (n *node) measure() {
	var now altq.Counter
	if n.info.Stats != nil {
		now = n.info.Stats.Xmit
	}
	if n.n > 0 {
		older := float64(n.n - 1)
		if now.Bytes >= n.prev.Bytes {
			n.avgBytes = (n.avgBytes*older + float64(now.Bytes-n.prev.Bytes)) / float64(n.n)
		}
		if now.Packets >= n.prev.Packets {
			n.avgPackets = (n.avgPackets*older + float64(now.Packets-n.prev.Packets)) / float64(n.n)
		}
	}
	n.prev = now
	n.n = min(n.n+1, avgMax)
}

// measured are packets and bits a second; ok is false before there are two listings.
func (n *node) measured() (packets, bits float64, ok bool) {
	const bitsPerByte = 8
	s := statInterval.Seconds()
	return n.avgPackets / s, n.avgBytes * bitsPerByte / s, n.n > 1
}

// writeOptions are what a listing shows.
type writeOptions struct {
	only         string // interface; "": all
	stats, debug bool
	removed      bool // also interfaces that are not there
}

// write shows the tree, parents first.
func (l *listing) write(w io.Writer, o writeOptions) error {
	for _, n := range l.roots {
		if o.only != "" && n.info.Ifname != o.only || n.info.Removed && !o.removed {
			continue
		}
		if err := n.write(w, 0, o); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) write(w io.Writer, level int, o writeOptions) error {
	var b strings.Builder
	if n.info.Removed {
		b.WriteString("INACTIVE ")
	}
	b.WriteString(n.info.Line(level))
	if len(n.children) > 0 {
		var names []string
		for _, c := range n.children {
			names = append(names, c.info.Qname)
		}
		b.WriteString("{" + strings.Join(names, ", ") + "}")
	}
	b.WriteByte('\n')
	if o.stats && n.info.Stats != nil {
		n.writeStats(&b)
	}
	if o.debug {
		fmt.Fprintf(&b, "  [ qid=%d ifname=%s ifbandwidth=%s ]\n", n.info.QID, n.info.Ifname, conf.Rate(float64(n.info.IfBandwidth)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for _, c := range n.children {
		if err := c.write(w, level+1, o); err != nil {
			return err
		}
	}
	return nil
}

// writeStats writes the two or three lines of a queue (print_cbqstats and its like).
func (n *node) writeStats(b *strings.Builder) {
	s := n.info.Stats
	fmt.Fprintf(b, "  [ pkts: %10d  bytes: %10d  dropped pkts: %6d bytes: %6d ]\n",
		s.Xmit.Packets, s.Xmit.Bytes, s.Drop.Packets, s.Drop.Bytes)
	fmt.Fprintf(b, "  [ qlength: %3d/%3d", s.QLen, s.QLimit)
	if s.CBQ != nil {
		fmt.Fprintf(b, "  borrows: %6d  suspends: %6d", s.CBQ.Borrows, s.CBQ.Delays)
	}
	b.WriteString(" ]\n")
	if packets, bits, ok := n.measured(); ok {
		fmt.Fprintf(b, "  [ measured: %7.1f packets/s, %s/s ]\n", packets, conf.Rate(bits))
	}
}

// queueJSON is a queue, or an interface without any, as -o json shows it.
type queueJSON struct {
	Interface   string           `json:"interface"`
	Queue       string           `json:"queue,omitempty"`
	Parent      string           `json:"parent,omitempty"`
	Scheduler   string           `json:"scheduler"`
	IfBandwidth uint64           `json:"ifbandwidth"` // bits/s
	Bandwidth   uint64           `json:"bandwidth,omitempty"`
	Priority    int              `json:"priority"`
	QLimit      int              `json:"qlimit"`
	QID         altq.QID         `json:"qid"`
	Inactive    bool             `json:"inactive,omitempty"`
	Stats       *altq.ClassStats `json:"stats,omitempty"`
	PacketRate  *float64         `json:"packets_per_second,omitempty"`
	BitRate     *float64         `json:"bits_per_second,omitempty"`
}

// json is the listing as a value, in order of definition.
func (l *listing) json(only string) []queueJSON {
	list := []queueJSON{}
	for _, n := range l.nodes {
		i := n.info
		if only != "" && i.Ifname != only {
			continue
		}
		q := queueJSON{
			Interface: i.Ifname, Queue: i.Qname, Parent: i.Parent, Scheduler: i.Scheduler.String(), IfBandwidth: i.IfBandwidth,
			Bandwidth: i.Bandwidth, Priority: i.Priority, QLimit: i.Qlimit, QID: i.QID, Inactive: i.Removed, Stats: i.Stats,
		}
		if packets, bits, ok := n.measured(); ok {
			q.PacketRate, q.BitRate = &packets, &bits
		}
		list = append(list, q)
	}
	return list
}
