package netstat8

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// box has interfaces that count in each interval; the wait of number last fails.
type box struct {
	rows        []row
	waits, last int
}

func (b *box) wait(context.Context, time.Duration) error {
	b.waits++
	r := &b.rows[0]
	r.in.packets += 1488095
	r.in.bytes += 89285700
	r.out.packets += 1488095
	r.out.bytes += 89285700
	b.rows[1].idrops += 3
	b.rows[1].odrops += 12
	if b.waits == b.last {
		return errors.New("interrupted")
	}
	return nil
}

func (b *box) run(t *testing.T, o options) string {
	t.Helper()
	var out bytes.Buffer
	s := sideways{o: o, rows: func() []row { return b.rows }}
	if err := s.run(context.Background(), tool.IO{Stdout: &out, Wait: b.wait}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSidewaysShowsWhatIsNewInEachInterval(t *testing.T) {
	for _, c := range []struct {
		o    options
		want string
	}{
		{options{only: "ix0", lines: 2}, `            input            ix0           output
   packets  errs idrops      bytes    packets  errs      bytes colls
   1488095     0     3   89285700    1488095     0   89285700     0
   1488095     0     3   89285700    1488095     0   89285700     0
`},
		{options{drops: true, human: true, lines: 1}, `            input        (Total)           output
   packets  errs idrops      bytes    packets  errs      bytes colls drops
      1.5M     0     3        85M       1.5M     0        85M     0    12 
`},
	} {
		b := &box{rows: []row{{in: flow{packets: 7}}, {oerrors: 9}}}
		if d := cmp.Diff(c.want, b.run(t, c.o)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.o, d)
		}
	}
}

func TestSidewaysRepeatsItsBannerAndEndsWithTheWait(t *testing.T) {
	b := &box{rows: make([]row, 2), last: 45}
	out := b.run(t, options{})
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var banners []int
	for i, l := range lines {
		if strings.Contains(l, "(Total)") {
			banners = append(banners, i)
		}
	}
	if d := cmp.Diff([]int{0, 23, 46}, banners); d != "" || len(lines) != 44+3*2 {
		t.Errorf("%d lines, banners at %v", len(lines), banners)
	}
}

func TestSidewaysWithoutItsInterface(t *testing.T) {
	var out, stderr bytes.Buffer
	s := sideways{o: options{only: "em9"}, rows: func() []row { return nil }}
	exit := tool.Exit("netstat", s.run(context.Background(), tool.IO{Stdout: &out}), &stderr)
	if exit != 65 || stderr.String() != "netstat: interface em9 not found: Device not configured\n" || out.Len() != 0 {
		t.Errorf("%d %q %q", exit, stderr.String(), out.String())
	}
}

func TestCountersThatGoDownAreNoTraffic(t *testing.T) {
	var b bytes.Buffer
	s := sideways{last: row{in: flow{packets: 10}}}
	s.line(&b, row{in: flow{packets: 4}, oerrors: 2})
	if want := "         0     0     0          0          0     2          0     0\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestMemoryIsLaidOutAsFreeBSDDoes(t *testing.T) {
	const want = `350/160/510 mbufs in use (current/cache/total)
310/56/366/1000 mbuf clusters in use (current/cache/total/max)
300/50 mbuf+clusters out of packet secondary zone in use (current/cache)
1/2/3/500 4k (page size) jumbo clusters in use (current/cache/total/max)
0/0/0/60 9k jumbo clusters in use (current/cache/total/max)
0/0/0/30 16k jumbo clusters in use (current/cache/total/max)
711K/160K/871K bytes allocated to network (current/cache/total)
1/2/3 requests for mbufs denied (mbufs/clusters/mbuf+clusters)
0/0/0 requests for mbufs delayed (mbufs/clusters/mbuf+clusters)
0/0/0 requests for jumbo clusters delayed (4k/9k/16k)
0/0/4 requests for jumbo clusters denied (4k/9k/16k)
0 sendfile syscalls
0 sendfile syscalls completed without I/O request
0 requests for I/O initiated by sendfile
0 pages read by sendfile as part of a request
0 pages were valid at time of a sendfile request
0 pages were valid and substituted to bogus page
0 pages were requested for read ahead by applications
0 pages were read ahead by sendfile
0 times sendfile encountered an already busy page
0 requests for sfbufs denied
0 requests for sfbufs delayed
`
	stats := mbuf.Stats{
		Mbuf:      mbuf.ZoneStats{Used: 50, Free: 110, Denied: 1},
		Packet:    mbuf.ZoneStats{Used: 300, Free: 50, Denied: 3},
		Cluster:   mbuf.ZoneStats{Size: 2048, Limit: 1000, Used: 360, Free: 6, Denied: 2},
		JumboPage: mbuf.ZoneStats{Size: 4096, Limit: 500, Used: 1, Free: 2},
		Jumbo9:    mbuf.ZoneStats{Size: 9216, Limit: 60},
		Jumbo16:   mbuf.ZoneStats{Size: 16384, Limit: 30, Denied: 4},
	}
	const wantJSON = `{"__version": "1", "mbuf-statistics": {"mbuf-current":350,"mbuf-cache":160,"mbuf-total":510,` +
		`"cluster-current":310,"cluster-cache":56,"cluster-total":366,"cluster-max":1000,"packet-count":300,"packet-free":50,` +
		`"jumbo-count":1,"jumbo-cache":2,"jumbo-total":3,"jumbo-max":500,"jumbo-page-size":4,"jumbo9-count":0,"jumbo9-cache":0,"jumbo9-total":0,"jumbo9-max":60,` +
		`"jumbo16-count":0,"jumbo16-cache":0,"jumbo16-total":0,"jumbo16-limit":30,"bytes-in-use":711,"bytes-in-cache":160,"bytes-total":871,` +
		`"mbuf-failures":1,"cluster-failures":2,"packet-failures":3,"mbuf-sleeps":0,"cluster-sleeps":0,"packet-sleeps":0,` +
		`"jumbop-sleeps":0,"jumbo9-sleeps":0,"jumbo16-sleeps":0,"jumbop-failures":0,"jumbo9-failures":0,"jumbo16-failures":4,` +
		`"sendfile-syscalls":0,"sendfile-no-io":0,"sendfile-io-count":0,"sendfile-pages-sent":0,"sendfile-pages-valid":0,"sendfile-pages-bogus":0,` +
		`"sendfile-requested-readahead":0,"sendfile-readahead":0,"sendfile-busy-encounters":0,"sfbufs-alloc-failed":0,"sfbufs-alloc-wait":0}}` + "\n"
	for want, o := range map[string]options{want: {}, wantJSON: {format: tool.Format{JSON: true}}} {
		var b bytes.Buffer
		if err := o.showMemory(&b, stats); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func TestSidewaysAsJSON(t *testing.T) {
	b := &box{rows: make([]row, 2), last: 3}
	got := b.run(t, options{drops: true, format: tool.Format{JSON: true}})
	const stats = `{"received-packets":1488095,"received-errors":0,"dropped-packets":3,"received-bytes":89285700,"sent-packets":1488095,` +
		`"send-errors":0,"sent-bytes":89285700,"collisions":0,"sent-dropped-packets":12}`
	if d := cmp.Diff(`{"__version": "1", "statistics": {"interface-statistics": [`+stats+", "+stats+"]}}\n", got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
