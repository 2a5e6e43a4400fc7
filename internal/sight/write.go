package sight

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Write writes the dump as text. Descriptors that go on like those before are counted
// only, unless all is set.
func (d *Dump) Write(w io.Writer, all bool) error {
	var b bytes.Buffer
	for i := range d.Devices {
		d.Devices[i].write(&b, all)
	}
	d.Mbufs.write(&b)
	_, err := b.WriteTo(w)
	return err
}

func (d *Device) write(b *bytes.Buffer, all bool) {
	d.head(b)
	if d.Gone {
		return
	}
	for i := range d.Queues {
		q := &d.Queues[i]
		q.head(b)
		for k := range q.Rings {
			q.Rings[k].write(b, all)
		}
	}
	if len(d.Registers) == 0 {
		return
	}
	b.WriteString("  registers\n")
	for i := range d.Registers {
		d.Registers[i].write(b)
	}
}

// head is what fits into a few lines.
func (d *Device) head(b *bytes.Buffer) {
	if d.Gone {
		fmt.Fprintf(b, "%s: gone\n", d.Name)
		return
	}
	state := []string{"not running"}
	if d.Running {
		state[0] = "running"
	}
	if d.LinkUp {
		state = append(state, "link up")
	} else {
		state = append(state, "link down")
	}
	if d.OActive {
		state = append(state, "oactive")
	}
	fmt.Fprintf(b, "%s: %s, sends by %s, broken contracts %d\n", d.Name, strings.Join(state, ", "), d.Path, d.Broken)
	fmt.Fprintf(b, "  ledger: %s\n  rx_ledger: %s\n", d.Ledger, d.RxLedger)
}

// head is the queue without its descriptors.
func (q *Queue) head(b *bytes.Buffer) {
	fmt.Fprintf(b, "  %s:", q.Name)
	if q.Busy {
		b.WriteString(" busy, as last published:")
	}
	for _, x := range q.Indices {
		fmt.Fprintf(b, " %s %d", x.Name, x.Value)
	}
	b.WriteByte('\n')
	if q.Soft != "" {
		fmt.Fprintf(b, "    mp_ring %s\n", q.Soft)
	}
}

// alike is how many descriptors that are alike are shown one after the other.
const alike = 4

func (r *Ring) write(b *bytes.Buffer, all bool) {
	fmt.Fprintf(b, "    ring %d: %d descriptors of %d bytes at %#x\n", r.Index, r.Size, r.Bytes, r.Addr)
	for from := 0; from < len(r.Descs); {
		to := from + 1
		for to < len(r.Descs) && r.Descs[to].like(&r.Descs[from]) {
			to++
		}
		show := min(alike, to-from)
		if all || to-from <= alike+1 {
			show = to - from
		}
		if !all && !r.Descs[from].written() && r.Descs[from].Marks == "" {
			show = 0
		}
		for i := from; i < from+show; i++ {
			r.Descs[i].write(b)
		}
		if rest := to - from - show; rest > 0 {
			r.Descs[from+show].fold(b, rest)
		}
		from = to
	}
}

// like reports whether d goes on as before: the same kind of descriptor with the same
// owner, and no index points to it.
func (d *Descriptor) like(before *Descriptor) bool {
	kind, _, _ := strings.Cut(d.Text, " ")
	kindBefore, _, _ := strings.Cut(before.Text, " ")
	return d.Marks == "" && before.Marks == "" && d.Owner == before.Owner && kind == kindBefore && d.written() == before.written()
}

// fold stands for n descriptors from d on.
func (d *Descriptor) fold(b *bytes.Buffer, n int) {
	what := "more"
	if !d.written() {
		what = "empty"
	}
	fmt.Fprintf(b, "      %4d-%d %s, %d %s\n", d.Index, d.Index+n-1, d.Owner, n, what)
}

func (d *Descriptor) write(b *bytes.Buffer) {
	note := d.Text
	if d.Marks != "" {
		note = strings.TrimSpace(note + "  <- " + d.Marks)
	}
	b.WriteString("     ")
	WriteDesc(b, ' ', d.Index, fmt.Sprintf("%-8s", d.Owner), d.Words, note)
	b.WriteByte('\n')
}

// WriteDesc writes a line without its end about a descriptor: a mark, its index, whose it
// is, its words, and what they mean.
func WriteDesc(w io.Writer, mark rune, index int, owner string, words []uint64, text string) {
	fmt.Fprintf(w, "%c%4d:", mark, index)
	if owner != "" {
		fmt.Fprintf(w, " %s", owner)
	}
	for _, v := range words {
		fmt.Fprintf(w, " %016x", v)
	}
	if text != "" {
		fmt.Fprintf(w, "  %s", text)
	}
}

func (r *Register) write(b *bytes.Buffer) {
	switch {
	case r.Value == nil:
		fmt.Fprintf(b, "    0x%04x %-12s not read: reading changes it\n", r.Offset, r.Name)
	case r.Bits == "":
		fmt.Fprintf(b, "    0x%04x %-12s %08x\n", r.Offset, r.Name, *r.Value)
	default:
		fmt.Fprintf(b, "    0x%04x %-12s %08x %s\n", r.Offset, r.Name, *r.Value, r.Bits)
	}
}

func (m Mbufs) write(b *bytes.Buffer) {
	b.WriteString("packet buffers\n")
	for i := range m.Places {
		p := &m.Places[i]
		fmt.Fprintf(b, "  %s", p.Name)
		switch {
		case p.First == -1:
		case p.First == p.Last:
			fmt.Fprintf(b, ", slot %d", p.First)
		default:
			fmt.Fprintf(b, ", slots %d-%d", p.First, p.Last)
		}
		fmt.Fprintf(b, ": %d of %d bytes: %s\n", p.Packets, p.Bytes, list(p.Pieces))
	}
	for _, place := range m.Busy {
		fmt.Fprintf(b, "  %s: busy, not looked at\n", place)
	}
	fmt.Fprintf(b, "  in use: %s\n  held: %s\n  unaccounted for: %s\n", list(m.InUse), list(m.Held), list(m.Unaccounted))
}

// Short is what fits on a console: of each device its state and its queues' indices, and
// what became of packet buffers.
func (d *Dump) Short() string {
	var b bytes.Buffer
	for i := range d.Devices {
		dev := &d.Devices[i]
		dev.head(&b)
		for k := range dev.Queues {
			dev.Queues[k].head(&b)
		}
	}
	fmt.Fprintf(&b, "packet buffers unaccounted for: %s", list(d.Mbufs.Unaccounted))
	if n := len(d.Mbufs.Busy); n > 0 {
		fmt.Fprintf(&b, " (%d places were busy)", n)
	}
	b.WriteByte('\n')
	return b.String()
}
