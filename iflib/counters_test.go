package iflib

import (
	"testing"

	"github.com/ifsim/ifsim/ifnet"
)

func TestTransmitCountersSumTheQueuesAndSurviveStop(t *testing.T) {
	m := newCtlMachine(t, false)
	d := &ctlDev{}
	c := m.newCtx(t, 0, d, d)
	c.ifp.AddCounterSource(c.txCounterSource)
	for i := range uint64(3) {
		q := c.addTxq(t)
		q.own.opackets, q.own.obytes, q.own.omcasts = 1+i, 100*(1+i), 10*i
		q.publish()
	}
	c.ifp.IncCounter(ifnet.CounterOPackets, 5)
	want := map[ifnet.Counter]uint64{ifnet.CounterOPackets: 11, ifnet.CounterOBytes: 600, ifnet.CounterOMcasts: 30}
	check := func() {
		t.Helper()
		for id := range ifnet.NumCounters {
			// The fake driver adds 1000 to all of them.
			if got := c.ifp.GetCounter(id); got != want[id]+1000 {
				t.Errorf("counter %d: %d, want %d", id, got, want[id]+1000)
			}
		}
	}
	check()
	c.running(d)
	check()
}
