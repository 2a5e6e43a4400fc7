package altqtest

import (
	"runtime"
	"sync"
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// Senders of Concurrent.
const (
	senders   = 8
	perSender = 400
	frameSize = 1000
)

// Concurrent has eight goroutines send through a queue on the real clock while others
// read statistics, purge, disable, enable and replace the discipline, and checks the
// account. It is for the race detector.
func Concurrent(t *testing.T, discipline func() altq.Discipline, qids ...altq.QID) {
	t.Helper()
	k := Threads(t)
	z := mbuf.Of(k)
	w := &wire{z: z}
	w.q = altq.NewQueue(altq.Env{Kernel: k, Name: "test0", MaxLen: altq.DefaultQLimit, Start: w.start})
	must(t, w.q.Attach(discipline()))
	must(t, w.q.Enable())
	must(t, w.q.SetTBR(altq.Profile{Rate: 400e6, Depth: 20 * frameSize}))
	var others, all sync.WaitGroup
	stop := make(chan struct{})
	others.Go(func() { w.read(stop, qids) })
	for i := range senders {
		all.Go(func() { w.send(qids[i%len(qids)], uint32(i)) })
	}
	all.Go(func() {
		for i := range 20 {
			switch i % 4 {
			case 0:
				w.q.Purge(nil)
			case 1:
				w.q.Disable()
			case 2:
				must(t, w.q.Attach(discipline()))
			case 3:
				must(t, w.q.Enable())
			}
			runtime.Gosched()
		}
	})
	all.Wait()
	close(stop)
	others.Wait()
	w.q.Close()
	if in := uint64(senders * perSender); in != w.out+w.q.Dropped() || w.q.Len() != 0 {
		t.Errorf("%d packets in, %d out, %d dropped, %d queued", in, w.out, w.q.Dropped(), w.q.Len())
	}
	if u := z.Usage(); u.Any() {
		t.Errorf("in use at the end: %+v", u)
	}
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

// wire takes what a queue sends.
type wire struct {
	z *mbuf.Zones
	q *altq.Queue

	mu  sync.Mutex
	out uint64
}

// start is if_start: one at a time.
func (w *wire) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for m := w.q.Dequeue(); m != nil; m = w.q.Dequeue() {
		w.out++
		mbuf.FreeChain(m)
	}
}

func (w *wire) send(qid altq.QID, hash uint32) {
	c := w.z.NewCache()
	defer c.Close()
	for range perSender {
		m := c.GetHdr()
		for m == nil {
			m = c.GetHdr()
		}
		m.QID, m.QIDHash, m.Pkt.Len = qid, hash, frameSize
		if w.q.Enqueue(m) == nil {
			w.q.Kick()
		}
	}
}

// read reads statistics until stop.
func (w *wire) read(stop chan struct{}, qids []altq.QID) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		d := w.q.Discipline()
		for _, qid := range qids {
			// Another discipline may be attached by now.
			_, _ = w.q.Stats(d.Type(), qid)
		}
		_, _ = w.q.TBRStats()
		_ = w.q.Len()
	}
}
