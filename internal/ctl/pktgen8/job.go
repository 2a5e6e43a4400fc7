package pktgen8

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ifsim/ifsim/client"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/sysctl"
)

// job is one run.
type job struct {
	p        settings
	k        *kern.Kernel
	nic      *iflib.Ctx
	ifp      *ifnet.Ifnet
	port     port.Port
	src, dst span
	wheels   [nWheels]wheel // where each thread's walk begins

	stopped  atomic.Bool   // threads shall end
	stop     chan struct{} // closed with stopped
	stopOnce sync.Once
	gone     chan struct{} // closed when the interface is detached
	goneOnce sync.Once

	count tally
	base  progress      // when the run began
	start time.Duration // uptime

	mu           sync.Mutex
	first, last  time.Duration // uptime of reception
	rtt, sinceRT rtts          // of the run, and since the last report
}

// tally are the counts of all threads.
type tally struct{ frames, bytes, batches, refused, dropped atomic.Uint64 }

// end tells the threads to end. Any goroutine.
func (j *job) end() {
	j.stopped.Store(true)
	j.stopOnce.Do(func() { close(j.stop) })
}

// done is what has been done with frames, in words.
func (j *job) done() string {
	switch j.p.Mode {
	case client.PktgenModeRx:
		return "received"
	case client.PktgenModePong:
		return "returned"
	}
	return "sent"
}

// run does the work in a goroutine of its own while it reports.
func (j *job) run(ctx context.Context, wait WaitFunc, report func(Report)) (Result, error) {
	if err := j.awaitLink(ctx); err != nil {
		return j.result(), err
	}
	defer context.AfterFunc(ctx, j.end)()
	defer ifnet.OnEvent(j.k, func(ifp *ifnet.Ifnet, e ifnet.EventKind) {
		if ifp == j.ifp && e == ifnet.EventDeparture {
			j.goneOnce.Do(func() { close(j.gone) })
		}
	})()
	j.base, j.start = j.progress(), j.k.Uptime()
	if report == nil {
		err := j.work(ctx)
		return j.result(), err
	}
	reporting, done := context.WithCancel(ctx)
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer done()
		err = j.work(ctx)
	})
	j.report(reporting, wait, report)
	wg.Wait()
	return j.result(), err
}

// work does what the mode says.
func (j *job) work(ctx context.Context) (err error) {
	switch j.p.Mode {
	case client.PktgenModeRx:
		err = j.receive(ctx)
	case client.PktgenModePing:
		err = j.ping(ctx)
	case client.PktgenModePong:
		err = j.pong(ctx)
	default:
		err = j.send()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && j.p.Mode != client.PktgenModeRx {
		err = j.awaitHardware(ctx)
	}
	if j.p.Mode != client.PktgenModeRx {
		j.mu.Lock()
		j.first, j.last = j.start, j.k.Uptime()
		j.mu.Unlock()
	}
	return err
}

// errGone is an interface that was detached (ENXIO).
var errGone = errors.New(sysctl.Strerror(syscall.ENXIO))

// result is what has been done until now.
func (j *job) result() Result {
	c := &j.count
	r := Result{
		Frames: c.frames.Load(), Bytes: c.bytes.Load(), Batches: c.batches.Load(),
		Refused: c.refused.Load(), Dropped: c.dropped.Load(), Size: j.p.Size,
	}
	if r.Frames > 0 {
		r.Size = int(r.Bytes / r.Frames)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.Elapsed = j.last - j.first; j.last == 0 && j.start > 0 && j.p.Mode != client.PktgenModeRx {
		r.Elapsed = j.k.Uptime() - j.start // it goes on
	}
	if j.p.Mode == client.PktgenModePing {
		r.RTT = j.rtt.copy()
		r.RTT.Lost = r.Frames - min(r.RTT.Answers, r.Frames)
	}
	return r
}

// report reports until ctx ends, and once more of what is left if that is long enough to
// mean something.
func (j *job) report(ctx context.Context, wait WaitFunc, report func(Report)) {
	last := Report{At: j.start}
	for ended := false; !ended; {
		ended = wait(ctx, j.p.interval()) != nil
		now := Report{Number: last.Number + 1, At: j.k.Uptime(), Total: j.result()}
		now.Took = now.At - last.At
		if now.Took < MinReport*time.Millisecond {
			continue
		}
		now.Total.RTT = nil
		now.Frames = now.Total.Frames - last.Total.Frames
		now.Bytes = now.Total.Bytes - last.Total.Bytes
		now.Batches = now.Total.Batches - last.Total.Batches
		j.mu.Lock()
		if j.sinceRT.Answers > 0 {
			now.RTT = j.sinceRT.copy()
			j.sinceRT = rtts{}
		}
		j.mu.Unlock()
		report(now)
		last = now
	}
}

// alarm is a timer of the machine's clock that a goroutine can wait for.
type alarm struct {
	c       chan struct{} // of one
	callout *kern.Callout
	hz      int
}

// newAlarm makes an alarm that is not set. The caller drains its callout.
func newAlarm(k *kern.Kernel) *alarm {
	a := &alarm{c: make(chan struct{}, 1), hz: k.Hz()}
	a.callout = k.NewCallout("pktgen", nil, func() {
		select {
		case a.c <- struct{}{}:
		default:
		}
	})
	return a
}

// set sets the alarm anew.
func (a *alarm) set(d time.Duration) {
	a.callout.Drain()
	select {
	case <-a.c:
	default:
	}
	a.callout.Reset(int(d.Seconds()*float64(a.hz)), -1)
}
