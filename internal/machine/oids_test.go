package machine_test

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

// The tables of this file are typed from the specs. A row is "TYPE FLAGS: NAMES", with the
// type as sysctl -t says it, but for blanks, and the flags RD, RW, RDTUN, RWTUN, of which
// sysctl -T and -W each show a part.

// specGlobals are what every machine has outside of dev.
var specGlobals = map[string]string{
	"spec iflib 5.1, net.iflib": `
integer RW: min_tx_latency no_tx_batch timer_default
integer RWTUN: tx_watchdog_periods max_producers simple_drain_quota
integer RDTUN: prefer_mpring simple_txbr_size`,
	"spec ifnet 1.1, kern.ipc": `integer RD: max_linkhdr max_protohdr max_hdr`,
	"spec ifnet 10.3, kern.ipc": `
int64_t RDTUN: maxmbufmem
integer RWTUN: nmbclusters nmbjumbop nmbjumbo9 nmbjumbo16 nmbufs mb_use_ext_pgs
uint64_t RD: num_snd_tags`,
	"spec ifnet 6.11, net": `unsigned-integer RW: ifdescr_maxlen`,
	"spec ifnet 6.11, net.link": `
integer RDTUN: ifqmaxlen log_promisc_mode_change
integer RW: log_link_state_change
integer RD: generic.system.ifcount
integer RW: vlan.soft_pad vlan.mtag_pcp`,
	"spec ifnet 6.11, net.bpf": `
integer RWTUN: optimize_writers
integer RW: maxinsns`,
	"spec altq 1, kern.features.altq": `integer RD: cbq codel red rio hfsc priq fairq`,
	"spec 1g 7.1, hw.em": `
integer RDTUN: disable_crc_stripping tx_int_delay rx_int_delay tx_abs_int_delay rx_abs_int_delay
integer RDTUN: smart_pwr_down unsupported_tso sbp eee_setting max_interrupt_rate
integer RWTUN: enable_aim`,
	"spec 1g 7.1, hw.igc": `
integer RDTUN: disable_crc_stripping smart_pwr_down sbp eee_setting max_interrupt_rate
integer RWTUN: enable_aim`,
}

// specDebug is what a machine has with Invariants only.
const specDebug = "spec iflib 5.1, net.iflib"

const specDebugRows = `
integer RW: verbose_debug
integer RD: tx_seen tx_sent tx_encap tx_frees rx_allocs fl_refills fl_refills_large txq_drain_flushing
integer RD: txq_drain_oactive txq_drain_notready encap_load_mbuf_fail encap_pad_mbuf_fail encap_txq_avail_fail
integer RD: encap_txd_encap_fail task_fn_rx rx_intr_enables fast_intrs rx_unavail rx_ctx_inactive rx_if_input rxd_flush`

// specDevice is what every device has, below dev.<driver>.<unit>.
var specDevice = map[string]string{
	"spec ifnet 3": `string RD: %desc %driver %location %pnpinfo %parent %iommu`,
	"spec iflib 5.2, iflib": `
string RD: driver_version
uint32_t RD: tx_watchdog_events
uint8_t RDTUN: simple_tx separate_txrx use_logical_cores
uint16_t RWTUN: override_ntxqs override_nrxqs override_qs_enable rx_budget tx_abdicate
integer RWTUN: disable_msix tx_reclaim_thresh tx_reclaim_ticks tx_defer_mfree
uint16_t RDTUN: core_offset use_extra_msix_vectors
integer RDTUN: allocated_msix_vectors
string RWTUN: override_ntxds override_nrxds`,
	"spec 1g 7.2": `
integer RW: enable_aim debug nvm rs_dump fc
string RD: fw_version reg_dump
unsigned-long RD: dropped link_irq rx_overruns
unsigned-integer RD: device_control rx_control fc_high_water fc_low_water
uint64_t RD: interrupts.asserts interrupts.rx_desc_min_thresh`,
	"spec 1g 7.2, mac_stats": `
uint64_t RD: excess_coll single_coll multiple_coll late_coll collision_count symbol_errors sequence_errors
uint64_t RD: defer_count missed_packets recv_no_buff recv_length_errors recv_undersize recv_fragmented
uint64_t RD: recv_oversize recv_jabber recv_errs crc_errs alignment_errs xon_recvd xon_txd xoff_recvd xoff_txd
uint64_t RD: unsupported_fc_recvd mgmt_pkts_recvd mgmt_pkts_drop mgmt_pkts_txd total_pkts_recvd good_pkts_recvd
uint64_t RD: bcast_pkts_recvd mcast_pkts_recvd rx_frames_64 rx_frames_65_127 rx_frames_128_255 rx_frames_256_511
uint64_t RD: rx_frames_512_1023 rx_frames_1024_1522 good_octets_recvd good_octets_txd total_pkts_txd good_pkts_txd
uint64_t RD: bcast_pkts_txd mcast_pkts_txd tx_frames_64 tx_frames_65_127 tx_frames_128_255 tx_frames_256_511
uint64_t RD: tx_frames_512_1023 tx_frames_1024_1522 tso_txd`,
}

// specTxq and specRxq are what every queue has; N is its number.
var (
	specTxq = map[string]string{
		"spec iflib 5.3, iflib.txqN": `
integer RD: cpu
uint64_t RD: mbuf_defrag m_pullups mbuf_defrag_failed no_desc_avail tx_map_failed txd_encap_efbig no_tx_dma_setup
uint16_t RD: txq_pidx txq_cidx txq_cidx_processed txq_in_use
uint64_t RD: txq_processed txq_cleaned r_enqueues r_drops r_starts r_stalls r_restarts r_abdications
string RD: ring_state`,
		"spec 1g 7.2, queue_tx_N": `
unsigned-integer RD: interrupt_rate txd_head txd_tail
unsigned-long RD: tx_irq`,
	}
	specRxq = map[string]string{
		"spec iflib 5.4, iflib.rxqN": `
integer RD: cpu
uint16_t RD: rxq_fl0.pidx rxq_fl0.cidx rxq_fl0.credits rxq_fl0.buf_size`,
		"spec 1g 7.2, queue_rx_N": `
unsigned-integer RD: interrupt_rate rxd_head rxd_tail
unsigned-long RD: rx_irq`,
	}
)

// Rows of spec 1g 7.2 that some parts have.
const (
	emAndIgb = `
uint64_t RD: mac_stats.coll_ext_errs mac_stats.tso_ctx_fail
uint64_t RD: interrupts.rx_pkt_timer interrupts.rx_abs_timer interrupts.tx_pkt_timer interrupts.tx_abs_timer
uint64_t RD: interrupts.tx_queue_empty interrupts.tx_queue_min_thresh interrupts.rx_overrun`
	belowIgb     = `integer RW: rx_int_delay tx_int_delay rx_abs_int_delay tx_abs_int_delay itr`
	onlyIgb      = `integer RW: tso_tcp_flags_mask_first_segment tso_tcp_flags_mask_middle_segment tso_tcp_flags_mask_last_segment`
	onlyIgc      = `unsigned-long RD: watchdog_timeouts`
	conventional = `uint8_t RDTUN: allow_64bit_dma`
	coalesces    = `integer RW: dmac`
	savesEnergy  = `integer RW: eee_control`
	countsLPI    = `uint64_t RD: eee.tx_lpi_count eee.rx_lpi_count`
)

// judged are the devices of the machine, one of each kind of part, and what the spec gives
// it beyond specDevice.
var judged = []struct {
	name, chip string
	rows       []string
}{
	{"em0", "82574L", []string{emAndIgb, belowIgb}},
	{"em1", "82545EM", []string{emAndIgb, belowIgb, conventional}},
	{"em2", "I217-V", []string{emAndIgb, belowIgb, savesEnergy, countsLPI}},
	{"em3", "I219-LM", []string{emAndIgb, belowIgb, savesEnergy, countsLPI}},
	{"igb0", "I210", []string{emAndIgb, onlyIgb, coalesces, savesEnergy, countsLPI}},
	{"igb1", "I350", []string{emAndIgb, onlyIgb, coalesces, savesEnergy, countsLPI}},
	{"igb2", "82576", []string{emAndIgb, onlyIgb}},
	{"igc0", "I225-V", []string{onlyIgc, coalesces, savesEnergy}},
	{"igc1", "I226-V", []string{onlyIgc, coalesces, savesEnergy}},
}

// own is what a machine has beyond the specs, by the reason why.
var own = map[string]string{
	"FreeBSD has it; the specs name the node": `
string RD: kern.ostype kern.osrelease kern.msgbuf dev.<drv>.%parent
integer RD: kern.hz kern.smp.cpus kern.smp.threads_per_core hw.ncpu
integer RW: debug.bootverbose
integer RW: net.link.ether.inet.max_age net.link.ether.inet.maxtries net.link.ether.inet.wait
integer RW: net.link.ether.inet.maxhold net.link.ether.inet.proxyall net.link.ether.inet.allow_multicast
integer RW: net.link.ether.inet.max_log_per_second net.link.ether.inet.log_arp_wrong_iface
integer RW: net.link.ether.inet.log_arp_movements net.link.ether.inet.log_arp_permanent_modify
integer RW: net.bpf.bufsize net.bpf.maxbufsize`,
	"FreeBSD has it with options LOCK_PROFILING": `
integer RW: debug.lock.prof.skipspin debug.lock.prof.skipcount debug.lock.prof.reset
integer RWTUN: debug.lock.prof.enable
integer RD: debug.lock.prof.rejected
string RD: debug.lock.prof.stats`,
	"FreeBSD has it for IP, which the specs leave out": `
integer RW: net.inet.ip.ttl net.inet.ip.forwarding net.inet.icmp.icmplim net.inet.icmp.quotelen net.inet.icmp.bmcastecho
integer RW: net.inet6.ip6.forwarding net.inet6.ip6.hlim net.inet6.ip6.dad_count
integer RWTUN: net.inet6.ip6.auto_linklocal
integer RW: net.inet6.icmp6.nd6_delay net.inet6.icmp6.nd6_umaxtries net.inet6.icmp6.nd6_mmaxtries
integer RW: net.inet6.icmp6.nd6_gctimer net.inet6.icmp6.nd6_maxqueuelen net.inet6.icmp6.errppslimit`,
	"statistics of IP: structs in FreeBSD, an OID a counter here": `
uint64_t RD: net.inet.ip.stats.* net.inet.icmp.stats.* net.inet6.ip6.stats.* net.inet6.icmp6.stats.* net.link.ether.arp.stats.*`,
	"fail points: FreeBSD's names of iflib, ours elsewhere": `
string RWTUN: debug.fail_point.*
string RWTUN: debug.iflib.register_device debug.iflib.admin_task_device`,
	"bounce pages: FreeBSD has the zones, ours are the checks": `
integer RD: hw.busdma.zone<n>.total_bpages hw.busdma.zone<n>.free_bpages hw.busdma.zone<n>.active_bpages
integer RD: hw.busdma.zone<n>.total_bounced hw.busdma.zone<n>.alignment
string RD: hw.busdma.zone<n>.lowaddr
integer RD: hw.busdma.total_bpages hw.busdma.active_bpages hw.busdma.maps hw.busdma.loaded
uint64_t RD: hw.busdma.total_bounced hw.busdma.faults
uint8_t RDTUN: hw.busdma.check`,
	"the simulator's own": `
string RWTUN: hw.ifsim.lock
string RD: debug.lock.prof.tries
uint8_t RW: dev.<drv>.<n>.ifsim.led
string RD: dev.<drv>.<n>.ifsim.ledger dev.<drv>.<n>.ifsim.rx_ledger
uint64_t RD: dev.<drv>.<n>.ifsim.broken_contracts dev.<drv>.<n>.ifsim.txq<n>.tx_empty_doorbells dev.<drv>.<n>.ifsim.txq<n>.tx_deferred
unsigned-long RD: dev.<drv>.<n>.bad_writeback`,
	"what FreeBSD did before 2026-07, to compare with": `integer RDTUN: dev.igb.<n>.legacy_udp_hashtype`,
}

// oid is a leaf as the tables describe it.
type oid struct{ kind, flags string }

// expect adds the rows of a table to want; the prefix is behind the comma of the table's
// name, and base before it.
func expect(t *testing.T, want map[string]oid, base, table, rows, number string) {
	t.Helper()
	prefix := base
	if _, node, ok := strings.Cut(table, ", "); ok {
		prefix += node + "."
	}
	prefix = strings.ReplaceAll(prefix, "N.", number+".")
	for _, row := range lines(strings.TrimPrefix(rows, "\n")) {
		head, names, ok := strings.Cut(row, ": ")
		kind, flags, two := strings.Cut(head, " ")
		if !ok || !two {
			t.Fatalf("%s: row %q is not TYPE FLAGS: NAMES", table, row)
		}
		for _, name := range strings.Fields(names) {
			if _, twice := want[prefix+name]; twice {
				t.Errorf("%s names %s again", table, prefix+name)
			}
			want[prefix+name] = oid{strings.ReplaceAll(kind, "-", " "), flags}
		}
	}
}

// judgedMachine boots a machine with the judged devices.
func judgedMachine(t *testing.T, invariants bool) *machine.Machine {
	t.Helper()
	env := map[string]string{}
	for _, d := range judged {
		driver := strings.TrimRight(d.name, "0123456789")
		env["hint."+driver+"."+d.name[len(driver):]+".device"] = d.chip
	}
	m, err := machine.Boot(machine.Config{Executor: kern.Stepped, Clock: kern.ManualClock, NCPU: 2, MemSize: memSize,
		Invariants: invariants, Env: env})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// specified is what the specs say that a machine has.
func specified(t *testing.T, m *machine.Machine) map[string]oid {
	want := map[string]oid{}
	for table, rows := range specGlobals {
		expect(t, want, "", table, rows, "")
	}
	if m.Kernel().Invariants() {
		expect(t, want, "", specDebug, specDebugRows, "")
	}
	for _, d := range judged {
		ctx := m.Ctx(d.name)
		if ctx == nil {
			t.Fatalf("%s did not attach", d.name)
		}
		driver := strings.TrimRight(d.name, "0123456789")
		base := "dev." + driver + "." + d.name[len(driver):] + "."
		for table, rows := range specDevice {
			expect(t, want, base, table, rows, "")
		}
		for _, rows := range d.rows {
			expect(t, want, base, "spec 1g 7.2", rows, "")
		}
		for _, q := range []struct {
			tables map[string]string
			n      int
		}{{specTxq, ctx.NTxqs()}, {specRxq, ctx.NRxqs()}} {
			for i := range q.n {
				for table, rows := range q.tables {
					expect(t, want, base, table, rows, fmt.Sprint(i))
				}
			}
		}
	}
	return want
}

// ask runs sysctl(8) and returns its lines.
func ask(t *testing.T, m *machine.Machine, args ...string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	if exit := sysctl8.Run(m.Kernel().Sysctl, args, &out, &errs); exit != 0 || errs.Len() > 0 {
		t.Fatalf("sysctl %v: exit %d, %s", args, exit, &errs)
	}
	return lines(out.String())
}

// listed is what sysctl -a lists, but nodes.
func listed(t *testing.T, m *machine.Machine) map[string]oid {
	t.Helper()
	tunable, writable := map[string]bool{}, map[string]bool{}
	for _, name := range ask(t, m, "-aNT") {
		tunable[name] = true
	}
	for _, name := range ask(t, m, "-aNW") {
		writable[name] = true
	}
	have := map[string]oid{}
	for _, line := range ask(t, m, "-at") {
		name, kind, _ := strings.Cut(line, ": ")
		if kind == "node" {
			continue
		}
		flags := "RD"
		if writable[name] {
			flags = "RW"
		}
		if tunable[name] {
			flags += "TUN"
		}
		have[name] = oid{kind, flags}
	}
	return have
}

// ownPattern matches the names of a row of own.
func ownPattern(name string) *regexp.Regexp {
	expr := strings.NewReplacer(`\*`, ".*", "<drv>", "[a-z]+", "<n>", "[0-9]+").Replace(regexp.QuoteMeta(name))
	return regexp.MustCompile("^" + expr + "$")
}

func TestMachineListsWhatTheSpecsList(t *testing.T) {
	beyond := map[string]oid{}
	for _, rows := range own {
		expect(t, beyond, "", "own", rows, "")
	}
	patterns := map[string]*regexp.Regexp{}
	for name := range beyond {
		patterns[name] = ownPattern(name)
	}
	used := map[string]bool{}
	for _, invariants := range []bool{true, false} {
		m := judgedMachine(t, invariants)
		want, have := specified(t, m), listed(t, m)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			got, ok := have[name]
			switch {
			case !ok:
				t.Errorf("%s is missing", name)
			case got != want[name]:
				t.Errorf("%s is %v, the spec says %v", name, got, want[name])
			}
		}
		for _, name := range slices.Sorted(maps.Keys(have)) {
			if _, ok := want[name]; !ok {
				judgeOwn(t, name, have[name], beyond, patterns, used)
			}
		}
	}
	for name := range beyond {
		if !used[name] {
			t.Errorf("no machine has %s", name)
		}
	}
}

// judgeOwn looks for a leaf beyond the specs among those that have a reason.
func judgeOwn(t *testing.T, name string, got oid, beyond map[string]oid, patterns map[string]*regexp.Regexp, used map[string]bool) {
	t.Helper()
	for row, p := range patterns {
		if p.MatchString(name) {
			if used[row] = true; got != beyond[row] {
				t.Errorf("%s is %v, not %v", name, got, beyond[row])
			}
			return
		}
	}
	t.Errorf("%s, %v, is in no spec and has no reason", name, got)
}

// What the specs give a handler of its own, without leaves (spec ifnet 6.11).
func TestTablesAreNodes(t *testing.T) {
	b := boot(t, machine.Config{})
	for _, name := range []string{"net.link.generic.ifdata", "net.bpf.stats"} {
		o, err := b.Kernel().Sysctl.Lookup(name)
		must(t, err)
		if got := o.Kind().String(); got != "node" {
			t.Errorf("%s is a %s", name, got)
		}
	}
}
