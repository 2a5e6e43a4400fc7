package netstat8

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// Widths of the columns of -Q. FreeBSD has nothing like it: its -Q shows the queues between
// interfaces and protocols, of which there are none here.
const (
	queueWidth   = 5
	cpuWidth     = 3
	ringWidth    = 9 // ABDICATED
	indexWidth   = 5
	countWidth   = 10
	queueBytes   = 12
	dropsWidth   = 7
	softLenWidth = 5
)

// queueSet is a NIC with its queues as they are.
type queueSet struct {
	name string
	tx   []iflib.TxqSample
	rx   []iflib.RxqSample
}

// queuesOf are the queues of a machine, or those of one interface.
func queuesOf(m Machine, only string) (sets []queueSet) {
	for _, device := range m.Devices() {
		ctx := m.Ctx(device)
		if ctx == nil || only != "" && ctx.Ifp().Name() != only {
			continue
		}
		s := queueSet{name: ctx.Ifp().Name()}
		for i := range ctx.NTxqs() {
			s.tx = append(s.tx, ctx.TxqSample(i))
		}
		for i := range ctx.NRxqs() {
			s.rx = append(s.rx, ctx.RxqSample(i))
		}
		sets = append(sets, s)
	}
	return sets
}

// showQueues prints what the queues hold and have counted.
func (o options) showQueues(w io.Writer, sets []queueSet) error {
	if o.format.JSON {
		return o.queuesJSON(w, sets)
	}
	name := nameWidth
	for _, s := range sets {
		name = max(name, len(s.name))
	}
	var b bytes.Buffer
	b.WriteString("Transmit queues:\n")
	writeTxHeader(&b, name)
	for _, s := range sets {
		for i := range s.tx {
			writeTx(&b, name, s.name, i, &s.tx[i])
		}
	}
	b.WriteString("\nReceive queues:\n")
	writeRxHeader(&b, name)
	for _, s := range sets {
		for i := range s.rx {
			writeRx(&b, name, s.name, i, &s.rx[i])
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func writeTxHeader(b *bytes.Buffer, name int) {
	fmt.Fprintf(b, "%-*s %-*s %*s %-*s %*s %*s %*s %*s %*s", name, "Name", queueWidth, "Queue", cpuWidth, "CPU", ringWidth, "Ring", softLenWidth, "Len",
		indexWidth, "Pidx", indexWidth, "Cidx", indexWidth, "InUse", indexWidth, "Size")
	fmt.Fprintf(b, " %*s %*s %*s %*s\n", countWidth, "Enqueued", countWidth, "Opkts", queueBytes, "Obytes", dropsWidth, "Drop")
}

func writeTx(b *bytes.Buffer, name int, ifname string, i int, q *iflib.TxqSample) {
	fmt.Fprintf(b, "%-*s %-*s %*d %-*s %*d %*d %*d %*d %*d", name, ifname, queueWidth, fmt.Sprintf("txq%d", i), cpuWidth, q.CPU, ringWidth, q.Soft,
		softLenWidth, q.SoftLen+q.Deferred, indexWidth, q.State.Pidx, indexWidth, q.State.Cidx, indexWidth, q.State.InUse, indexWidth, q.Size)
	fmt.Fprintf(b, " %*d %*d %*d %*d\n", countWidth, q.Enqueues, countWidth, q.Packets, queueBytes, q.Bytes, dropsWidth, q.Drops)
}

func writeRxHeader(b *bytes.Buffer, name int) {
	fmt.Fprintf(b, "%-*s %-*s %*s %*s %*s %*s %*s", name, "Name", queueWidth, "Queue", cpuWidth, "CPU",
		indexWidth, "Pidx", indexWidth, "Cidx", indexWidth, "Avail", indexWidth, "Size")
	fmt.Fprintf(b, " %*s %*s %*s %*s\n", countWidth, "Tasks", countWidth, "Ipkts", queueBytes, "Ibytes", dropsWidth, "Drop")
}

func writeRx(b *bytes.Buffer, name int, ifname string, i int, q *iflib.RxqSample) {
	fmt.Fprintf(b, "%-*s %-*s %*d %*d %*d %*d %*d", name, ifname, queueWidth, fmt.Sprintf("rxq%d", i), cpuWidth, q.CPU,
		indexWidth, pidx(q), indexWidth, q.State.CQCidx, indexWidth, credits(q), indexWidth, q.Size)
	fmt.Fprintf(b, " %*d %*d %*d %*d\n", countWidth, q.Tasks, countWidth, q.Packets, queueBytes, q.Bytes, dropsWidth, q.Drops)
}

// pidx is the producer index of a queue's first free list.
func pidx(q *iflib.RxqSample) uint16 {
	if len(q.State.FreeLists) == 0 {
		return 0
	}
	return q.State.FreeLists[0].Pidx
}

// credits is how many buffers the hardware has, of all lists.
func credits(q *iflib.RxqSample) (n int) {
	for _, fl := range q.State.FreeLists {
		n += int(fl.Credits)
	}
	return n
}

func (o options) queuesJSON(w io.Writer, sets []queueSet) error {
	j := o.format.NewJSON(w, xoVersion)
	j.Object("statistics", func() {
		j.List("transmit-queue", func() {
			for _, s := range sets {
				for i := range s.tx {
					j.Item(func() { txJSON(j, s.name, i, &s.tx[i]) })
				}
			}
		})
		j.List("receive-queue", func() {
			for _, s := range sets {
				for i := range s.rx {
					j.Item(func() { rxJSON(j, s.name, i, &s.rx[i]) })
				}
			}
		})
	})
	return j.Close()
}

func txJSON(j *tool.JSON, ifname string, i int, q *iflib.TxqSample) {
	j.Field("name", ifname)
	j.Field("queue", i)
	j.Field("cpu", q.CPU)
	j.Field("ring-state", q.Soft)
	j.Field("ring-length", q.SoftLen)
	j.Field("ring-size", q.SoftSize)
	j.Field("deferred-length", q.Deferred)
	j.Field("deferred-size", q.DeferredSize)
	j.Field("producer-index", q.State.Pidx)
	j.Field("consumer-index", q.State.Cidx)
	j.Field("in-use", q.State.InUse)
	j.Field("size", q.Size)
	j.Field("enqueued", q.Enqueues)
	j.Field("sent-packets", q.Packets)
	j.Field("sent-bytes", q.Bytes)
	j.Field("dropped-packets", q.Drops)
}

func rxJSON(j *tool.JSON, ifname string, i int, q *iflib.RxqSample) {
	j.Field("name", ifname)
	j.Field("queue", i)
	j.Field("cpu", q.CPU)
	j.Field("producer-index", pidx(q))
	j.Field("consumer-index", q.State.CQCidx)
	j.Field("available", credits(q))
	j.Field("size", q.Size)
	j.Field("tasks", q.Tasks)
	j.Field("received-packets", q.Packets)
	j.Field("received-bytes", q.Bytes)
	j.Field("dropped-packets", q.Drops)
}
