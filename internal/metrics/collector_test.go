package metrics_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/metrics"
	"github.com/ifsim/ifsim/sysctl"
)

// registry has a machine's metrics, with the checks of one that trusts nobody.
func registry(t *testing.T, src metrics.Source) *prometheus.Registry {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	must(t, reg.Register(metrics.NewCollector(src)))
	return reg
}

func TestAMachineShowsWhatItsToolsShow(t *testing.T) {
	m := boot(t, everything)
	awaitLink(t, m, "em0", "em1", "igb0", "cqnic0")
	send(t, m, "em1", packets, packetSize)
	eventually(t, "em0 has not received", func() bool { return m.Ctx("em0").RxLedger().Handed == packets })
	src := metrics.Source{Machine: m, Clients: func() int { return 3 }}
	url := serve(t, src).URL()
	t.Run("conventions", func(t *testing.T) { followsConventions(t, src) })
	t.Run("document", func(t *testing.T) { isDocumented(t, src) })
	t.Run("packets", func(t *testing.T) { countsPackets(t, scrape(t, url)) })
	t.Run("queues", func(t *testing.T) { showsQueues(t, m, scrape(t, url)) })
	t.Run("statistics", func(t *testing.T) {
		eventually(t, "the timer has not collected em1's statistics", func() bool {
			return subtree(t, m, "dev.em.1.mac_stats")["good_pkts_txd"] == strconv.Itoa(packets)
		})
		showsStatistics(t, m, scrape(t, url))
	})
	t.Run("memory", func(t *testing.T) { showsMemory(t, m, scrape(t, url)) })
	t.Run("interrupts", func(t *testing.T) { showsInterrupts(t, m, scrape(t, url)) })
	t.Run("locks", func(t *testing.T) { showsLocks(t, m, url) })
}

// What em1 has sent to em0.
const (
	packets    = 10
	packetSize = 100
)

func followsConventions(t *testing.T, src metrics.Source) {
	problems, err := testutil.GatherAndLint(registry(t, src))
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// documented are the rows of docs/metrics.md: name, type, labels, meaning.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	must(t, err)
	rows := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `(ifsim_\\w+)` \\| (\\w+) \\| ([^|]*) \\| [^|]+ \\| ([^|]+) \\|").FindAllStringSubmatch(string(text), -1) {
		labels := strings.Split(strings.NewReplacer("`", "", " ", "").Replace(m[3]), ",")
		slices.Sort(labels)
		rows[m[1]] = fmt.Sprintf("%s {%s} %s", m[2], strings.Join(labels, ","), m[4])
	}
	return rows
}

// isDocumented compares the document with what this machine, which has everything, shows.
func isDocumented(t *testing.T, src metrics.Source) {
	list, err := registry(t, src).Gather()
	must(t, err)
	shown := make(map[string]string)
	for _, f := range list {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		shown[f.GetName()] = fmt.Sprintf("%s {%s} %s", strings.ToLower(f.GetType().String()), strings.Join(labels, ","), f.GetHelp())
	}
	if d := cmp.Diff(documented(t), shown); d != "" {
		t.Errorf("the machine shows something else than docs/metrics.md (-document +machine):\n%s", d)
	}
	if len(shown) < 90 {
		t.Errorf("%d metrics", len(shown))
	}
}

func countsPackets(t *testing.T, s sample) {
	for name, want := range map[string]float64{
		`ifsim_interface_transmit_packets_total{interface="em1"}`:                   packets,
		`ifsim_interface_transmit_bytes_total{interface="em1"}`:                     packets * packetSize,
		`ifsim_interface_transmit_multicast_packets_total{interface="em1"}`:         packets,
		`ifsim_interface_transmit_drops_total{interface="em1"}`:                     0,
		`ifsim_interface_receive_packets_total{interface="em0"}`:                    packets,
		`ifsim_interface_receive_bytes_total{interface="em0"}`:                      packets * packetSize,
		`ifsim_interface_receive_packets_total{interface="em1"}`:                    0,
		`ifsim_transmit_ledger_in_packets_total{interface="em1"}`:                   packets,
		`ifsim_transmit_ledger_out_packets_total{fate="handed",interface="em1"}`:    packets,
		`ifsim_transmit_ledger_out_packets_total{fate="ring_full",interface="em1"}`: 0,
		`ifsim_transmit_ledger_queued_packets{interface="em1"}`:                     0,
		`ifsim_transmit_ledger_imbalance_packets{interface="em1"}`:                  0,
		`ifsim_receive_ledger_in_packets_total{interface="em0"}`:                    packets,
		`ifsim_receive_ledger_out_packets_total{fate="handed",interface="em0"}`:     packets,
		`ifsim_receive_ledger_imbalance_packets{interface="em0"}`:                   0,
		`ifsim_transmit_queue_producer_index{interface="em1",queue="1"}`:            packets,
		`ifsim_transmit_queue_packets_total{interface="em1",queue="1"}`:             packets,
		`ifsim_transmit_queue_bytes_total{interface="em1",queue="1"}`:               packets * packetSize,
		`ifsim_transmit_queue_packets_total{interface="em1",queue="0"}`:             0,
		`ifsim_transmit_queue_drops_total{interface="em1",queue="1"}`:               0,
		`ifsim_transmit_queue_ring_packets{interface="em1",queue="1"}`:              0,
		`ifsim_transmit_queue_ring_slots{interface="em1",queue="1"}`:                2048,
		`ifsim_transmit_queue_deferred_packets{interface="em1",queue="1"}`:          0,
		`ifsim_transmit_queue_deferred_slots{interface="em1",queue="1"}`:            256,
		`ifsim_transmit_queue_deferred_slots{interface="em0",queue="1"}`:            0,
		`ifsim_receive_queue_packets_total{interface="em0",queue="0"}`:              packets,
		`ifsim_receive_queue_bytes_total{interface="em0",queue="0"}`:                packets * packetSize,
		`ifsim_receive_queue_drops_total{interface="em0",queue="0"}`:                0,
		`ifsim_receive_queue_buffers_limit{interface="em0",queue="0"}`:              1023,
		`ifsim_transmit_queue_descriptors{interface="em1",queue="0"}`:               1024,
		`ifsim_transmit_queue_ring_state{interface="em1",queue="0",state="idle"}`:   1,
		`ifsim_transmit_queue_ring_state{interface="em1",queue="0",state="busy"}`:   0,
		`ifsim_interface_simple_tx{interface="em1"}`:                                1,
		`ifsim_interface_mtu_bytes{interface="em1"}`:                                1500,
		`ifsim_interface_speed_bytes_per_second{interface="em1"}`:                   125e6,
		`ifsim_interface_link_state{interface="em1"}`:                               2,
		`ifsim_interface_up{interface="em1"}`:                                       1,
		`ifsim_interface_running{interface="em1"}`:                                  1,
		`ifsim_interface_up{interface="igb0.7"}`:                                    1,
		`ifsim_driver_contract_breaches_total{interface="em1"}`:                     0,
		`ifsim_device_attached{device="em1"}`:                                       1,
		`ifsim_control_clients`:                                                     3,
		`ifsim_pf_enabled`:                                                          1,
	} {
		s.want(t, name, want)
	}
}

// text is a variable as sysctl -n prints it.
func text(t *testing.T, m *machine.Machine, oid string) string {
	t.Helper()
	s, err := m.Kernel().Sysctl.Text(oid)
	must(t, err)
	return s
}

// subtree are the numbers below a node, by their names from there.
func subtree(t *testing.T, m *machine.Machine, name string) map[string]string {
	t.Helper()
	top, err := m.Kernel().Sysctl.Lookup(name)
	must(t, err)
	all := make(map[string]string)
	var walk func(o *sysctl.OID)
	walk = func(o *sysctl.OID) {
		for _, c := range o.Children() {
			walk(c)
		}
		if k := o.Kind(); k != sysctl.KindNode && k != sysctl.KindString {
			all[strings.TrimPrefix(o.FullName(), name+".")] = text(t, m, o.FullName())
		}
	}
	walk(top)
	return all
}

// Every number of a queue's node is a metric, whatever the driver.
func showsQueues(t *testing.T, m *machine.Machine, s sample) {
	seen := 0
	for _, nic := range []string{"em.0", "em.1", "igb.0", "cqnic.0"} {
		ifname := strings.ReplaceAll(nic, ".", "")
		for _, node := range []string{"iflib", "ifsim"} {
			for name, value := range subtree(t, m, "dev."+nic+"."+node) {
				parts := strings.Split(name, ".")
				if !strings.HasPrefix(parts[0], "txq") && !strings.HasPrefix(parts[0], "rxq") {
					continue
				}
				metric, ok := metrics.MetricOf(node, parts)
				if !ok {
					t.Errorf("dev.%s.%s.%s is no metric", nic, node, name)
					continue
				}
				labels := fmt.Sprintf("interface=%q,queue=%q", ifname, parts[0][3:])
				if len(parts) == 3 {
					labels = fmt.Sprintf("freelist=%q,", strings.TrimPrefix(parts[1], "rxq_fl")) + labels
				}
				seen++
				if got, ok := s[metric+"{"+labels+"}"]; !ok || fmt.Sprint(uint64(got)) != value {
					t.Errorf("%s{%s} is %v (%v), dev.%s.%s.%s is %s", metric, labels, got, ok, nic, node, name, value)
				}
			}
		}
	}
	if want := 4 * 2 * (21 + 1 + 4); seen < want {
		t.Errorf("%d variables compared, want %d and more", seen, want)
	}
}

func showsStatistics(t *testing.T, m *machine.Machine, s sample) {
	all := subtree(t, m, "dev.em.1.mac_stats")
	if len(all) < 40 {
		t.Errorf("%d statistics", len(all))
	}
	for name, value := range all {
		if got, ok := s[fmt.Sprintf("ifsim_mac_statistics_total{interface=%q,statistic=%q}", "em1", name)]; !ok || fmt.Sprint(uint64(got)) != value {
			t.Errorf("%s is %v (%v), want %s", name, got, ok, value)
		}
	}
}

func showsMemory(t *testing.T, m *machine.Machine, s sample) {
	stats := mbuf.Of(m.Kernel()).Stats()
	for _, z := range stats.Zones() {
		for name, want := range map[string]float64{
			"item_size_bytes": float64(z.Size), "limit": float64(z.Limit), "used": float64(z.Used), "free": float64(z.Free),
			"requests_total": float64(z.Requests), "failures_total": float64(z.Denied),
		} {
			s.want(t, fmt.Sprintf("ifsim_mbuf_zone_%s{zone=%q}", name, z.Name), want)
		}
	}
}

func showsInterrupts(t *testing.T, m *machine.Machine, s sample) {
	var names []string
	for _, i := range pci.Of(m.Kernel()).Interrupts() {
		names = append(names, i.Handlers...)
		s.want(t, fmt.Sprintf("ifsim_interrupts_total{handlers=%q,irq=\"%d\"}", strings.Join(i.Handlers, ","), i.IRQ), float64(i.Count))
	}
	if len(names) < 4 || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "em0:") }) {
		t.Errorf("handlers %q", names)
	}
}

func TestDevicesAndNamesMayChange(t *testing.T) {
	m := boot(t, everything)
	url := serve(t, metrics.Source{Machine: m}).URL()
	t.Run("detached", func(t *testing.T) { showsDetached(t, m, url) })
	t.Run("renamed", func(t *testing.T) { showsAnyName(t, m, url) })
}

func showsDetached(t *testing.T, m *machine.Machine, url string) {
	must(t, m.Detach("em0"))
	s := scrape(t, url)
	s.want(t, `ifsim_device_attached{device="em0"}`, 0)
	s.want(t, `ifsim_device_info{chip="82574L",description="",device="em0",driver="em",interface=""}`, 1)
	for name := range s {
		if strings.Contains(name, `interface="em0"`) && !strings.HasPrefix(name, "ifsim_altq_") {
			t.Errorf("%s is still there", name)
		}
	}
	s.want(t, `ifsim_altq_interface_active{interface="em0",scheduler="cbq"}`, 0)
}

func showsAnyName(t *testing.T, m *machine.Machine, url string) {
	_, err := m.Ifconfig(m.Ifnet("igb0"), []string{"name", "w\xffn\"\n"})
	must(t, err)
	s := scrape(t, url)
	s.want(t, `ifsim_interface_up{interface="w`+"\ufffd"+`n\"\n"}`, 1)
	s.want(t, `ifsim_transmit_queue_ring_enqueues_total{interface="w`+"\ufffd"+`n\"\n",queue="0"}`, 0)
	if n := len(slices.Collect(maps.Keys(s))); n < 500 {
		t.Errorf("%d values", n)
	}
}

// The locks stand still once they are not profiled any more.
func showsLocks(t *testing.T, m *machine.Machine, url string) {
	must(t, m.Kernel().Sysctl.SetText("debug.lock.prof.enable", "0"))
	s := scrape(t, url)
	stats := m.Kernel().LockStats()
	if len(stats) == 0 {
		t.Fatal("no lock was profiled")
	}
	for _, l := range stats {
		s.want(t, fmt.Sprintf("ifsim_lock_acquisitions_total{lock=%q}", l.Name), float64(l.Acquired))
		s.want(t, fmt.Sprintf("ifsim_lock_hold_seconds_total{lock=%q}", l.Name), l.Hold.Seconds())
	}
}
