package top8

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"
)

// report is what happened between two samples.
type report struct {
	Uptime     float64 `json:"uptime"`   // seconds
	Interval   float64 `json:"interval"` // seconds that the rates are about
	Interrupts float64 `json:"interrupts-per-second"`
	CPUs       []cpu   `json:"cpu"`
	Mbufs      mbufs   `json:"mbufs"`
	Queues     []row   `json:"queue"` // by packets a second, most first
}

type cpu struct {
	CPU  int     `json:"cpu"`
	Busy float64 `json:"busy-percent"`
}

// mbufs is how many packet buffers there are.
type mbufs struct {
	Packets  uint64 `json:"packets"` // an mbuf with a cluster each
	Mbufs    uint64 `json:"mbufs"`
	Clusters uint64 `json:"clusters"` // beside those of packets, of all sizes
	Free     uint64 `json:"free"`     // packets and mbufs
	Denied   uint64 `json:"denied"`
}

// row is a queue.
type row struct {
	Name       string   `json:"name"`
	CPU        int      `json:"cpu"`
	Packets    float64  `json:"packets-per-second"`
	Bytes      float64  `json:"bytes-per-second"`
	Depth      int      `json:"depth"`
	Size       int      `json:"size"`
	Soft       int      `json:"soft"`
	State      string   `json:"state,omitempty"`
	Drops      float64  `json:"drops-per-second"`
	Interrupts *float64 `json:"interrupts-per-second,omitempty"`
}

// compare tells what happened between two samples, the earlier of which may be empty:
// since boot. Counters that went down are those of devices that are new.
func compare(now, before *sample) report {
	d := (now.uptime - before.uptime).Seconds()
	rate := func(n, was uint64) float64 {
		if d <= 0 {
			return 0
		}
		return float64(n-min(n, was)) / d
	}
	r := report{Uptime: now.uptime.Seconds(), Interval: d, Mbufs: mbufsOf(now)}
	for i, busy := range now.busy {
		was := time.Duration(0)
		if i < len(before.busy) {
			was = before.busy[i]
		}
		c := cpu{CPU: i}
		if d > 0 {
			const percent = 100
			c.Busy = min(percent, percent*(busy-was).Seconds()/d)
		}
		r.CPUs = append(r.CPUs, c)
	}
	for name, n := range now.intrs {
		r.Interrupts += rate(n, before.intrs[name])
	}
	for i := range now.queues {
		q := &now.queues[i]
		var was queue
		if k := slices.IndexFunc(before.queues, func(o queue) bool { return o.name == q.name }); k >= 0 {
			was = before.queues[k]
		}
		o := row{Name: q.name, CPU: q.cpu, Depth: q.depth, Size: q.size, Soft: q.soft, State: q.state,
			Packets: rate(q.packets, was.packets), Bytes: rate(q.bytes, was.bytes), Drops: rate(q.drops, was.drops)}
		if n, ok := now.interrupts(q.name); ok {
			earlier, _ := before.interrupts(q.name)
			v := rate(n, earlier)
			o.Interrupts = &v
		}
		r.Queues = append(r.Queues, o)
	}
	slices.SortStableFunc(r.Queues, func(a, b row) int {
		switch {
		case a.Packets > b.Packets:
			return -1
		case a.Packets < b.Packets:
			return 1
		}
		return 0
	})
	return r
}

func mbufsOf(s *sample) mbufs {
	z := &s.mbufs
	jumbos := z.JumboPage.Used + z.Jumbo9.Used + z.Jumbo16.Used
	return mbufs{
		Packets: z.Packet.Used, Mbufs: z.Mbuf.Used, Clusters: z.Cluster.Used - min(z.Cluster.Used, z.Packet.Used+z.Packet.Free) + jumbos,
		Free: z.Packet.Free + z.Mbuf.Free, Denied: z.Packet.Denied + z.Mbuf.Denied + z.Cluster.Denied,
	}
}

// write prints the report, a blank line before it if it follows another.
func (r *report) write(w io.Writer, follows bool) error {
	var b bytes.Buffer
	if follows {
		b.WriteByte('\n')
	}
	const day = 24 * 60 * 60
	up := int(r.Uptime)
	running := 0
	for _, q := range r.Queues {
		if q.State != "down" {
			running++
		}
	}
	fmt.Fprintf(&b, "up %d+%s  %d queues: %d running; %.0f interrupts/s\n", up/day,
		time.Unix(int64(up%day), 0).UTC().Format(time.TimeOnly), len(r.Queues), running, r.Interrupts)
	for _, c := range r.CPUs {
		const percent = 100
		fmt.Fprintf(&b, "CPU %d: %5.1f%% busy, %5.1f%% idle\n", c.CPU, c.Busy, percent-c.Busy)
	}
	m := &r.Mbufs
	fmt.Fprintf(&b, "Mem: %d packets, %d mbufs, %d clusters; %d free, %d denied\n\n", m.Packets, m.Mbufs, m.Clusters, m.Free, m.Denied)
	fmt.Fprintf(&b, "%-11s %3s %9s %11s %5s %5s %4s %-9s %7s %7s\n", "QUEUE", "CPU", "PACKETS/s", "BYTES/s", "DEPTH", "SIZE", "SOFT", "STATE", "DROPS/s", "INTR/s")
	for i := range r.Queues {
		q := &r.Queues[i]
		intr := "-"
		if q.Interrupts != nil {
			intr = fmt.Sprintf("%.0f", *q.Interrupts)
		}
		state := q.State
		if state == "" {
			state = "-"
		}
		fmt.Fprintf(&b, "%-11s %3d %9.0f %11.0f %5d %5d %4d %-9s %7.0f %7s\n", q.Name, q.CPU, q.Packets, q.Bytes, q.Depth, q.Size, q.Soft, state, q.Drops, intr)
	}
	_, err := w.Write(b.Bytes())
	return err
}
