package metrics

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/sysctl"
)

const (
	labelDevice    = "device"
	labelStatistic = "statistic"
)

var (
	deviceInfo = gauge("device_info", unitOne, "A NIC, attached or not, with its driver and its chip; the interface is that of an attached one.", "dev.X.N.%desc, %driver",
		labelDevice, labelInterface, "driver", "chip", "description")
	deviceAttached = gauge("device_attached", unitTruth, "Whether a driver is attached to the NIC.", "device_is_attached(9)", labelDevice)
	macStatistic   = counter("mac_statistics", unitCount, "Statistics that the NIC keeps itself, by the names that its driver gives them.", "dev.X.N.mac_stats.*",
		labelInterface, labelStatistic)
)

// Variables of a device in its nodes iflib and ifsim.
var (
	iflibLeaves = []leaf{
		{gauge("interface_simple_tx", unitTruth, "Whether packets go the way of simple_tx and not through mp_ring.", "dev.X.N.iflib.simple_tx", labelInterface), "simple_tx"},
		{gauge("interface_msix_vectors", unitCount, "MSI-X vectors that the driver has.", "dev.X.N.iflib.allocated_msix_vectors", labelInterface), "allocated_msix_vectors"},
		{counter("interface_transmit_watchdog_events", unitTimes, "Resets that the transmit watchdog has started.", "dev.X.N.iflib.tx_watchdog_events", labelInterface), "tx_watchdog_events"},
	}
	ifsimLeaves = []leaf{
		{counter("driver_contract_breaches", unitTimes, "Breaches of iflib's contract by the driver.", "dev.X.N.ifsim.broken_contracts", labelInterface), "broken_contracts"},
	}
)

func deviceFamilies() []family {
	all := []family{deviceInfo, deviceAttached}
	all = append(all, leafFamilies(iflibLeaves)...)
	all = append(all, leafFamilies(ifsimLeaves)...)
	return append(all, macStatistic)
}

func (s *scrape) devices() {
	for _, name := range s.Machine.Devices() {
		ctx := s.Machine.Ctx(name)
		s.put(deviceAttached, truth(ctx != nil), name)
		driver, unit, chip, _ := s.Machine.Identity(name)
		ifname := ""
		if ctx != nil {
			ifname = ctx.Ifp().Name()
		}
		base := fmt.Sprintf("dev.%s.%d.", driver, unit)
		s.put(deviceInfo, 1, name, ifname, driver, chip, s.state(s.node(base+"%desc")))
		if ctx == nil {
			continue
		}
		n := nodes{iflib: s.node(base + "iflib"), ifsim: s.node(base + "ifsim")}
		s.leaves(n.iflib, iflibLeaves, ifname)
		s.leaves(n.ifsim, ifsimLeaves, ifname)
		s.macStatistics(s.node(base+"mac_stats"), ifname)
		s.queues(n, ctx, ifname)
		s.ledger(ctx, ifname)
	}
}

// nodes are a device's nodes; nil where there is none.
type nodes struct{ iflib, ifsim *sysctl.OID }

// macStatistics shows what is a number.
func (s *scrape) macStatistics(node *sysctl.OID, ifname string) {
	for name, o := range children(node) {
		if v, ok := s.number(o); ok {
			s.put(macStatistic, v, ifname, name)
		}
	}
}

// queues shows the queues of a device whose variables are there.
func (s *scrape) queues(n nodes, ctx *iflib.Ctx, ifname string) {
	own := children(n.ifsim)
	for name, node := range children(n.iflib) {
		if i, ok := queueNumber(name, "txq"); ok && i < ctx.NTxqs() {
			s.txq(ctx.TxqSample(i), node, own[name], ifname, decimal(i))
		}
		if i, ok := queueNumber(name, "rxq"); ok && i < ctx.NRxqs() {
			s.rxq(ctx.RxqSample(i), node, ifname, decimal(i))
		}
	}
}

// queueNumber is the number of a queue whose node is "txq03".
func queueNumber(node, prefix string) (number int, ok bool) {
	digits, ok := strings.CutPrefix(node, prefix)
	if !ok {
		return 0, false
	}
	number, err := strconv.Atoi(digits)
	return number, err == nil && number >= 0
}

func decimal(n int) string { return strconv.Itoa(n) }
