package netstat8

import (
	"fmt"
	"io"

	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// show prints the table or writes it as JSON.
func (t *table) show(w io.Writer) error {
	if !t.o.format.JSON {
		return t.write(w)
	}
	j := t.o.format.NewJSON(w, xoVersion)
	j.Object("statistics", func() {
		j.List("interface", func() {
			for i := range t.rows {
				j.Item(func() { t.fields(j, &t.rows[i]) })
			}
		})
	})
	return j.Close()
}

// fields are those of a row. FreeBSD's tool has "dropped-packets" twice with -d; here the
// second is "sent-dropped-packets".
func (t *table) fields(j *tool.JSON, r *row) {
	j.Field("name", r.ifname)
	j.Field("flags", fmt.Sprintf("%#x", uint32(r.flags)))
	if r.link {
		j.Field("mtu", r.mtu)
	}
	j.Field("network", r.network)
	j.Field("address", r.address)
	count := func(name string, v uint64) { j.Field(name, t.jsonNumber(v, decimal, "kMGTPE")) }
	size := func(name string, v uint64) { j.Field(name, t.jsonNumber(v, binary, "KMGTPE")) }
	count("received-packets", r.in.packets)
	if r.link {
		count("received-errors", r.ierrors)
		count("dropped-packets", r.idrops)
	}
	if t.o.bytes {
		size("received-bytes", r.in.bytes)
	}
	count("sent-packets", r.out.packets)
	if r.link {
		count("send-errors", r.oerrors)
	}
	if t.o.bytes {
		size("sent-bytes", r.out.bytes)
	}
	if r.link {
		count("collisions", r.collisions)
		if t.o.drops {
			count("sent-dropped-packets", r.odrops)
		}
	}
	if t.o.multicast {
		t.groupFields(j, r)
	}
}

func (t *table) groupFields(j *tool.JSON, r *row) {
	j.List("multicast-address", func() {
		for _, g := range r.groups {
			j.Item(func() {
				j.Field("address", g)
				if r.link {
					j.Field("received-packets", r.imcasts)
					j.Field("sent-packets", r.omcasts)
				}
			})
		}
	})
}

// jsonNumber is a number, or with -h the text that stands for it.
func (t *table) jsonNumber(v, unit uint64, suffixes string) any {
	if t.o.human {
		return humanize(v, unit, suffixes)
	}
	return v
}
