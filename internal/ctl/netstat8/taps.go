package netstat8

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ifsim/ifsim/ifnet/bpf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// directions are FreeBSD's letters and words for what a listener sees (bpf_flags).
var directions = map[bpf.Direction]struct{ letter, word string }{
	bpf.In: {"-", "input"}, bpf.Out: {"o", "output"}, bpf.InOut: {"s", "bidirectional"},
}

// showTaps prints the listeners of the machine's taps, or those of one interface
// (bpf_stats of netstat). Listeners belong to no process here, so that each has number 0.
func (o options) showTaps(w io.Writer, all []bpf.Info) error {
	if o.format.JSON {
		return o.tapsJSON(w, all)
	}
	if len(all) == 0 {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%5s %6s %7s %9s %9s %9s %5s %5s %s\n", "Pid", "Netif", "Flags", "Recv", "Drop", "Match", "Sblen", "Hblen", "Command")
	for _, i := range o.chosen(all) {
		fmt.Fprintf(&b, "%5d %6s %7s %9d %9d %9d %5d %5d %s\n", 0, i.Interface, tapFlags(i), i.Received, i.Dropped, i.Matched, i.StoreLen, i.HoldLen, i.Owner)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// chosen are the listeners that -I asks for.
func (o options) chosen(all []bpf.Info) (list []bpf.Info) {
	for _, i := range all {
		if o.only == "" || o.only == i.Interface {
			list = append(list, i)
		}
	}
	return list
}

// tapFlags are the letters of a listener: it is always told of each packet (i) and writes
// none, so that the others of FreeBSD (feedback, async, locked) do not occur.
func tapFlags(i bpf.Info) string {
	promisc := "-"
	if i.Promisc {
		promisc = "p"
	}
	return promisc + "if" + directions[i.Direction].letter + "---"
}

func (o options) tapsJSON(w io.Writer, all []bpf.Info) error {
	j := o.format.NewJSON(w, xoVersion)
	j.Object("bpf-statistics", func() {
		j.List("bpf-entry", func() {
			for _, i := range o.chosen(all) {
				j.Item(func() { tapFields(j, i) })
			}
		})
	})
	return j.Close()
}

// tapFields are those of a listener; a flag is an empty field, as libxo writes it.
func tapFields(j *tool.JSON, i bpf.Info) {
	j.Field("pid", 0)
	j.Field("interface-name", i.Interface)
	if i.Promisc {
		j.Field("promiscuous", "")
	}
	j.Field("immediate", "")
	j.Field("direction", directions[i.Direction].word)
	j.Field("received-packets", i.Received)
	j.Field("dropped-packets", i.Dropped)
	j.Field("filter-packets", i.Matched)
	j.Field("store-buffer-length", i.StoreLen)
	j.Field("hold-buffer-length", i.HoldLen)
	j.Field("process", i.Owner)
}
