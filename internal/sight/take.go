package sight

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
)

// Dump is a machine as it was looked at: not at one moment, while it works.
type Dump struct {
	Devices []Device `json:"device"`
	Mbufs   Mbufs    `json:"mbufs"`
}

// Device is an attached NIC.
type Device struct {
	Name      string     `json:"name"`
	Gone      bool       `json:"gone,omitempty"` // being detached; the rest is not known
	Running   bool       `json:"running"`
	LinkUp    bool       `json:"link-up"`
	OActive   bool       `json:"oactive,omitempty"`
	Path      string     `json:"path"` // mp_ring, simple_tx or altq
	Broken    uint64     `json:"broken-contracts"`
	Ledger    string     `json:"ledger"`
	RxLedger  string     `json:"rx-ledger"`
	Queues    []Queue    `json:"queue"`
	Registers []Register `json:"register,omitempty"`
}

// Queue is a transmit or receive queue.
type Queue struct {
	Name string `json:"name"` // "transmit queue 0"
	// Busy: somebody was at work; the indices are as last published, and the packets were
	// not looked at.
	Busy    bool    `json:"busy,omitempty"`
	Indices []Index `json:"index"`
	Soft    string  `json:"soft-ring,omitempty"` // state of the mp_ring
	Rings   []Ring  `json:"ring"`
}

// Index is a number of a queue by the name that its sysctl has.
type Index struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Ring is a descriptor ring.
type Ring struct {
	Index int          `json:"ring"` // within the queue
	Addr  uint64       `json:"address"`
	Size  int          `json:"descriptors"`
	Bytes int          `json:"bytes"` // of one
	Descs []Descriptor `json:"descriptor"`
}

// Descriptor is a descriptor of a ring.
type Descriptor struct {
	Index int
	Owner string // driver, done, hardware or unrung
	Marks string // names of the indices that point to it
	Text  string // what the driver makes of it: a word for its kind, then NAME=VALUE
	Words []uint64
}

// MarshalJSON takes the text apart: fields have names.
func (d Descriptor) MarshalJSON() ([]byte, error) {
	out := struct {
		Index  int               `json:"index"`
		Owner  string            `json:"owner"`
		Marks  string            `json:"marks,omitempty"`
		Words  []string          `json:"words"`
		Kind   string            `json:"kind,omitempty"`
		Fields map[string]string `json:"fields,omitempty"`
	}{Index: d.Index, Owner: d.Owner, Marks: d.Marks}
	for _, w := range d.Words {
		out.Words = append(out.Words, fmt.Sprintf("%016x", w))
	}
	for i, word := range strings.Fields(d.Text) {
		name, value, isField := strings.Cut(word, "=")
		switch {
		case i == 0:
			out.Kind = word
		case isField:
			if out.Fields == nil {
				out.Fields = make(map[string]string)
			}
			out.Fields[name] = value
		}
	}
	return json.Marshal(out)
}

// Register is a register of the part.
type Register struct {
	Name   string  `json:"name"`
	Offset uint64  `json:"offset"`
	Value  *uint64 `json:"value"` // nil: reading it would change it
	Bits   string  `json:"bits,omitempty"`
}

// Take looks at devices, and at who holds the packet buffers of the machine. A patient
// look waits for a short while for those at work, and must not be taken by work of the
// machine nor with its locks held; another one is for anybody at any time.
func Take(k *kern.Kernel, devices []*iflib.Ctx, patient bool) Dump {
	looks := make([]look, len(devices))
	for i, ctx := range devices {
		looks[i] = look{holder: ctx, look: ctx.Look}
	}
	return take(mbuf.Of(k), looks, patient)
}

// look is how a device is looked at.
type look struct {
	holder mbuf.Holder
	look   func(mbuf.Visit) iflib.Sight
}

func take(z *mbuf.Zones, looks []look, patient bool) (d Dump) {
	var h held
	v := mbuf.Visit{Chain: h.chain, Busy: h.busy, Patient: patient}
	for _, l := range looks {
		s := l.look(v)
		d.Devices = append(d.Devices, device(&s))
	}
	for _, o := range z.Holders() {
		if !slices.ContainsFunc(looks, func(l look) bool { return l.holder == o }) {
			o.Holding(v)
		}
	}
	d.Mbufs = h.sum(z)
	return d
}

func device(s *iflib.Sight) Device {
	d := Device{
		Name: s.Name, Gone: s.Gone, Running: s.Running, LinkUp: s.LinkUp, OActive: s.OActive, Path: "mp_ring", Broken: s.Broken,
		Ledger: s.Ledger.String(), RxLedger: s.RxLedger.String(),
	}
	switch {
	case s.Shaping:
		d.Path = "altq"
	case s.Simple:
		d.Path = "simple_tx"
	}
	if !s.LedgerKnown {
		d.Ledger += " (busy: altq is not known)"
	}
	for i := range s.Tx {
		d.Queues = append(d.Queues, txQueue(&s.Tx[i]))
	}
	for i := range s.Rx {
		d.Queues = append(d.Queues, rxQueue(&s.Rx[i]))
	}
	for _, r := range s.Registers {
		reg := Register{Name: r.Name, Offset: r.Offset, Bits: r.Bits}
		if r.Read {
			reg.Value = &r.Value
		}
		d.Registers = append(d.Registers, reg)
	}
	return d
}

func txQueue(s *iflib.TxqSight) Queue {
	st := &s.State
	q := Queue{Busy: s.Busy, Soft: s.Soft, Indices: []Index{
		{"pidx", uint64(st.Pidx)}, {"cidx", uint64(st.Cidx)}, {"cidx_processed", uint64(st.CidxProcessed)}, {"in_use", uint64(st.InUse)},
		{"rs_pending", uint64(st.RSPending)}, {"db_pending", uint64(st.DBPending)}, {"processed", st.Processed}, {"cleaned", st.Cleaned},
		{"deferred", uint64(s.Deferred)},
	}}
	marks := []mark{{int(st.Pidx), "pidx"}, {int(st.Cidx), "cidx"}, {int(st.CidxProcessed), "cidx_processed"}}
	for i := range s.Rings {
		r := &s.Rings[i]
		q.Name = "transmit queue " + itoa(r.Queue)
		if r.Completions() {
			q.Rings = append(q.Rings, ring(r, nil))
		} else {
			q.Rings = append(q.Rings, ring(r, marks))
		}
	}
	return q
}

func rxQueue(s *iflib.RxqSight) Queue {
	q := Queue{Busy: s.Busy}
	lists := 0
	for i := range s.Rings {
		r := &s.Rings[i]
		q.Name = "receive queue " + itoa(r.Queue)
		if r.Completions() {
			q.Indices = append(q.Indices, Index{"cq_cidx", uint64(s.State.CQCidx)})
			q.Rings = append(q.Rings, ring(r, []mark{{int(s.State.CQCidx), "cq_cidx"}}))
			continue
		}
		fl, prefix := &s.State.FreeLists[lists], "fl"+itoa(lists)+"."
		lists++
		q.Indices = append(q.Indices, Index{prefix + "pidx", uint64(fl.Pidx)}, Index{prefix + "cidx", uint64(fl.Cidx)},
			Index{prefix + "credits", uint64(fl.Credits)}, Index{prefix + "buf_size", uint64(fl.BufSize)})
		q.Rings = append(q.Rings, ring(r, []mark{{int(fl.Pidx), "pidx"}, {int(fl.Cidx), "cidx"}}))
	}
	return q
}

// mark is the name of an index of a ring.
type mark struct {
	at   int
	name string
}

func ring(r *iflib.RingSight, marks []mark) Ring {
	const wordBytes = 8
	out := Ring{Index: r.Index, Addr: uint64(r.Addr), Size: r.Size, Bytes: r.Per * wordBytes, Descs: make([]Descriptor, r.Size)}
	for i := range out.Descs {
		d := &out.Descs[i]
		*d = Descriptor{Index: i, Owner: r.Owner(i).String(), Words: r.Desc(i)}
		if d.written() {
			d.Text = r.Text(d.Words)
		}
		var names []string
		for _, m := range marks {
			if m.at == i {
				names = append(names, m.name)
			}
		}
		d.Marks = strings.Join(names, ",")
	}
	return out
}

// written reports whether there is anything in the descriptor.
func (d *Descriptor) written() bool {
	return slices.ContainsFunc(d.Words, func(w uint64) bool { return w != 0 })
}

// Trim leaves descriptors out that have nothing in them and to which no index points.
func (d *Device) Trim() {
	for i := range d.Queues {
		for k := range d.Queues[i].Rings {
			r := &d.Queues[i].Rings[k]
			r.Descs = slices.DeleteFunc(r.Descs, func(d Descriptor) bool { return !d.written() && d.Marks == "" })
		}
	}
}
