package packet_test

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/hw"
)

// Numbers of the traffic control interface (linux/rtnetlink.h, linux/pkt_sched.h).
const (
	tcaKind       = 1
	tcaOptions    = 2
	tbfParms      = 1
	tbfBurst      = 6
	tcRoot        = 0xffffffff
	linkEthernet  = 1
	tcMsgLen      = 20
	tcIndex       = 4
	tcParent      = 12
	tbfQoptLen    = 36
	tbfLinklayer  = 1
	tbfRate       = 8
	tbfLimit      = 24
	tbfBurstBytes = 3000
)

// throttle puts a token bucket of rate bytes/s in front of an interface, with a queue of
// limit bytes.
func throttle(t *testing.T, name string, rate, limit uint32) {
	t.Helper()
	ifi, err := net.InterfaceByName(name)
	check(t, err)
	qopt := make([]byte, tbfQoptLen)
	qopt[tbfLinklayer] = linkEthernet
	binary.NativeEndian.PutUint32(qopt[tbfRate:], rate)
	binary.NativeEndian.PutUint32(qopt[tbfLimit:], limit)
	attrs := netlink.NewAttributeEncoder()
	attrs.String(tcaKind, "tbf")
	attrs.Nested(tcaOptions, func(nested *netlink.AttributeEncoder) error {
		nested.Bytes(tbfParms, qopt)
		nested.Uint32(tbfBurst, tbfBurstBytes)
		return nil
	})
	b, err := attrs.Encode()
	check(t, err)
	msg := make([]byte, tcMsgLen)
	binary.NativeEndian.PutUint32(msg[tcIndex:], uint32(ifi.Index))
	binary.NativeEndian.PutUint32(msg[tcParent:], tcRoot)
	c, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	check(t, err)
	defer c.Close()
	_, err = c.Execute(netlink.Message{
		Header: netlink.Header{Type: unix.RTM_NEWQDISC, Flags: netlink.Request | netlink.Acknowledge | netlink.Create},
		Data:   append(msg, b...),
	})
	check(t, err)
}

// A full queue of the host (ENOBUFS) and a full socket (EAGAIN) are the same to a NIC: it
// waits, and nothing is lost or sent twice (case 46).
func TestFullHostQueueIsShortAndGoesOn(t *testing.T) {
	for _, tt := range []struct {
		name        string
		limit, rate uint32
		size, count int
	}{
		{"queue full", 6400, 256 << 10, 64, 1000},
		{"socket full", 16 << 20, 4 << 20, 1000, 600},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newCable(t)
			throttle(t, w.a, tt.rate, tt.limit)
			a, ca := openPort(t, w.a)
			b, cb := openPort(t, w.b)
			sendAll(t, a, ca, 70, frames(tt.count, tt.size, 0))
			// The kernel's timer and the sender release frames of a throttled queue
			// on different CPUs, so neighbours may change places.
			seen := make([]int, tt.count)
			for _, f := range receive(t, cb, hw.NewRxSource(b, 0), tt.count) {
				seen[seqOf(f)]++
			}
			for i, n := range seen {
				if n != 1 {
					t.Fatalf("frame %d came %d times", i, n)
				}
			}
			s := a.Stats()
			if s.TxFull == 0 || s.TxFrames != uint64(tt.count) || a.TakeErrors(70) != 0 || a.Completed(70) != tt.count {
				t.Errorf("stats %+v", s)
			}
			if ca.kicks(70) == 0 {
				t.Error("no TxReady")
			}
		})
	}
}
