package sight

import (
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/ifnet/mbuf"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Mbufs is who has the packet buffers in use.
type Mbufs struct {
	Places []Place      `json:"place"`
	Busy   []string     `json:"busy,omitempty"` // places that could not be looked at
	InUse  []PieceCount `json:"in-use"`         // by the zones' account
	Held   []PieceCount `json:"held"`           // by the places
	// Unaccounted is what is in use and at none of the places: leaked, unless places were
	// busy or somebody was on the way with it.
	Unaccounted []PieceCount `json:"unaccounted"`

	leak mbuf.Usage
}

// Leak is Unaccounted by zone; negative where more is held than was in use when the zones
// were asked, as packets moved meanwhile.
func (m Mbufs) Leak() mbuf.Usage { return m.leak }

// Place is where packets are.
type Place struct {
	Name string `json:"name"`
	// First and Last are the slots of a ring, -1 for what has none.
	First   int          `json:"first"`
	Last    int          `json:"last"`
	Packets int          `json:"packets"`
	Bytes   int64        `json:"bytes"` // of data
	Pieces  []PieceCount `json:"piece"`

	usage mbuf.Usage
}

// PieceCount is how many items of a zone.
type PieceCount struct {
	Zone  string `json:"zone"`
	Count int64  `json:"count"`
}

// pieces lists what there is of a usage by the zones' names.
func pieces(u mbuf.Usage) []PieceCount {
	out := []PieceCount{}
	for _, p := range []PieceCount{
		{"mbuf_packet", u.Packets}, {"mbuf", u.Mbufs}, {"mbuf_cluster", u.Clusters}, {"mbuf_jumbo_page", u.JumboPages},
		{"mbuf_jumbo_9k", u.Jumbo9}, {"mbuf_jumbo_16k", u.Jumbo16}, {"mbuf_extref", u.ExtRefs}, {"mbuf_tag", u.Tags}, {"snd_tag", u.SndTags},
	} {
		if p.Count != 0 {
			out = append(out, p)
		}
	}
	return out
}

// list is pieces as text.
func list(p []PieceCount) string {
	if len(p) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, c := range p {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(c.Count, 10) + " " + c.Zone)
	}
	return b.String()
}

// held collects what holders show.
type held struct {
	account mbuf.Account
	places  []Place
	missed  []string
}

// chain takes a packet; neighbours in a ring become one place.
func (h *held) chain(place string, slot int, m *mbuf.Mbuf) {
	u := h.account.Add(m)
	bytes := int64(m.Length())
	if n := len(h.places); n > 0 {
		p := &h.places[n-1]
		if p.Name == place && (slot == -1 && p.Last == -1 || slot != -1 && slot == p.Last+1) {
			p.Last = slot
			p.Packets++
			p.Bytes += bytes
			p.usage = p.usage.Plus(u)
			return
		}
	}
	h.places = append(h.places, Place{Name: place, First: slot, Last: slot, Packets: 1, Bytes: bytes, usage: u})
}

func (h *held) busy(place string) { h.missed = append(h.missed, place) }

// sum compares what was shown with what is in use.
func (h *held) sum(z *mbuf.Zones) Mbufs {
	use, have := z.Usage(), h.account.Held()
	m := Mbufs{Places: h.places, Busy: h.missed, leak: use.Minus(have)}
	m.InUse, m.Held, m.Unaccounted = pieces(use), pieces(have), pieces(m.leak)
	for i := range m.Places {
		m.Places[i].Pieces = pieces(m.Places[i].usage)
	}
	return m
}
