package metrics_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/internal/ctl/pfctl8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/metrics"
)

// queue is what pfctl -o json says of a queue.
type queue struct {
	Interface, Queue, Scheduler string
	Bandwidth                   uint64
	Priority                    float64
	Stats                       *altq.ClassStats
}

// pfctl runs the tool.
func pfctl(t *testing.T, m *machine.Machine, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if exit := pfctl8.Run(context.Background(), m.Kernel(), args, tool.IO{Stdout: &out, Stderr: &errs}); exit != 0 {
		t.Fatalf("pfctl %q: %d, %s", args, exit, &errs)
	}
	return out.Bytes()
}

// listed is what pfctl -s queue -v prints of each queue, by interface and name.
func listed(t *testing.T, m *machine.Machine) map[string]map[string]float64 {
	t.Helper()
	all := make(map[string]map[string]float64)
	var now map[string]float64
	for line := range strings.Lines(string(pfctl(t, m, "-s", "queue", "-v"))) {
		f := strings.Fields(strings.NewReplacer("/", " ", "(", " (", ":", ": ").Replace(line))
		switch f[0] {
		case "queue":
			now = make(map[string]float64)
			all[f[3]+" "+f[1]] = now
			continue
		case "altq": // an interface, as codel has it
			now = make(map[string]float64)
			all[f[2]+" "] = now
			continue
		}
		var pkts, bytes, dropped, dropBytes, qlen, limit, borrows, suspends float64
		switch {
		case f[1] == "pkts:":
			_, err := fmt.Sscanf(strings.Join(f, " "), "[ pkts: %g bytes: %g dropped pkts: %g bytes: %g ]", &pkts, &bytes, &dropped, &dropBytes)
			must(t, err)
			now["transmit_packets_total"], now["transmit_bytes_total"], now["drop_packets_total"], now["drop_bytes_total"] = pkts, bytes, dropped, dropBytes
		case len(f) > 5:
			_, err := fmt.Sscanf(strings.Join(f, " "), "[ qlength: %g %g borrows: %g suspends: %g ]", &qlen, &limit, &borrows, &suspends)
			must(t, err)
			now["length_packets"], now["limit_packets"], now["borrows_total"], now["suspends_total"] = qlen, limit, borrows, suspends
		default:
			_, err := fmt.Sscanf(strings.Join(f, " "), "[ qlength: %g %g ]", &qlen, &limit)
			must(t, err)
			now["length_packets"], now["limit_packets"] = qlen, limit
		}
	}
	return all
}

func TestQueuesAreThoseOfPfctl(t *testing.T) {
	m := boot(t, everything)
	awaitLink(t, m, "em0", "em1", "igb0")
	url := serve(t, metrics.Source{Machine: m}).URL()
	t.Run("state", func(t *testing.T) { showsALTQ(t, m, url) })
	t.Run("rates", func(t *testing.T) { showsRates(t, m, url) })
}

// What pfctl lists, what it writes as JSON, and the metrics are the same.
func showsALTQ(t *testing.T, m *machine.Machine, url string) {
	const count, size = 60, 1000
	send(t, m, "em0", count, size) // more than the queue holds
	send(t, m, "igb0", 7, size)
	s := scrape(t, url)

	lines := listed(t, m)
	var queues []queue
	must(t, json.Unmarshal(pfctl(t, m, "-s", "queue", "-v", "-o", "json"), &queues))
	compared := 0
	for _, q := range queues {
		labels := fmt.Sprintf("{interface=%q,queue=%q,scheduler=%q}", q.Interface, q.Queue, q.Scheduler)
		want := map[string]float64{
			"length_packets": float64(q.Stats.QLen), "limit_packets": float64(q.Stats.QLimit),
			"transmit_packets_total": float64(q.Stats.Xmit.Packets), "transmit_bytes_total": float64(q.Stats.Xmit.Bytes),
			"drop_packets_total": float64(q.Stats.Drop.Packets), "drop_bytes_total": float64(q.Stats.Drop.Bytes),
			"busy_periods_total": float64(q.Stats.Period),
		}
		if q.Stats.CBQ != nil {
			want["borrows_total"], want["suspends_total"] = float64(q.Stats.CBQ.Borrows), float64(q.Stats.CBQ.Delays)
			want["overlimits_total"], want["overactions_total"] = float64(q.Stats.CBQ.Over), float64(q.Stats.CBQ.Overactions)
		}
		if q.Queue != "" {
			want["priority"] = q.Priority
			if q.Bandwidth > 0 {
				want["bandwidth_bytes_per_second"] = float64(q.Bandwidth) / 8
			}
		}
		for name, v := range want {
			s.want(t, "ifsim_altq_queue_"+name+labels, v)
		}
		for name, v := range lines[q.Interface+" "+q.Queue] {
			s.want(t, "ifsim_altq_queue_"+name+labels, v)
			compared++
		}
	}
	if want := 3*8 + 3*6; compared != want || len(queues) != 6 {
		t.Errorf("%d numbers of %d queues compared, want %d of 6", compared, len(queues), want)
	}
	std := `{interface="em0",queue="std",scheduler="cbq"}`
	if sent, dropped := s["ifsim_altq_queue_transmit_packets_total"+std], s["ifsim_altq_queue_drop_packets_total"+std]; sent+dropped != count || sent < 50 {
		t.Errorf("%v sent, %v dropped", sent, dropped)
	}
	s.want(t, `ifsim_altq_queue_transmit_packets_total{interface="igb0",queue="low",scheduler="priq"}`, 7)
	s.want(t, `ifsim_altq_queue_transmit_bytes_total{interface="igb0",queue="low",scheduler="priq"}`, 7*size)
	s.want(t, `ifsim_altq_interface_bandwidth_bytes_per_second{interface="em0",scheduler="cbq"}`, 12.5e6)
	s.want(t, `ifsim_altq_queue_red_drop_packets_total{interface="em0",precedence="0",queue="web",reason="forced",scheduler="cbq"}`, 0)
	s.want(t, `ifsim_altq_queue_codel_drop_packets_total{interface="cqnic0",queue="",scheduler="codel"}`, 0)
}

// The rates of pfctl -s queue -vv are differences of the metrics, which Prometheus takes.
func showsRates(t *testing.T, m *machine.Machine, url string) {
	const count, size = 20, 500
	const std = `{interface="em0",queue="std",scheduler="cbq"}`
	var scrapes []sample
	var parts []string
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	exit := pfctl8.Run(ctx, m.Kernel(), []string{"-s", "queue", "-vv", "-i", "em0", "-o", "json"}, tool.IO{
		Stdout: &out, Stderr: io.Discard,
		Flush: func() { parts = append(parts, out.String()); out.Reset() },
		Wait: func(ctx context.Context, _ time.Duration) error {
			scrapes = append(scrapes, scrape(t, url))
			if len(scrapes) == 2 {
				cancel()
			} else {
				send(t, m, "em0", count, size)
			}
			return ctx.Err()
		},
	})
	if exit != 0 || len(parts) != 2 {
		t.Fatalf("exit %d, %d listings", exit, len(parts))
	}
	var queues []struct {
		Queue   string
		Packets float64 `json:"packets_per_second"`
		Bits    float64 `json:"bits_per_second"`
	}
	must(t, json.Unmarshal([]byte(parts[1]), &queues))
	for _, q := range queues {
		if q.Queue != "std" {
			continue
		}
		const interval = 5 // seconds
		rate := func(name string) float64 {
			return (scrapes[1]["ifsim_altq_queue_"+name+std] - scrapes[0]["ifsim_altq_queue_"+name+std]) / interval
		}
		if math.Abs(q.Packets-rate("transmit_packets_total")) > 1e-9 || q.Packets != count/interval || math.Abs(q.Bits-8*rate("transmit_bytes_total")) > 1e-6 {
			t.Errorf("pfctl: %v packets/s, %v bit/s; metrics: %v, %v byte/s", q.Packets, q.Bits, rate("transmit_packets_total"), rate("transmit_bytes_total"))
		}
		return
	}
	t.Errorf("no such queue in %s", parts[1])
}
