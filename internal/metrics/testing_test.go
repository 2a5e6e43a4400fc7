package metrics_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/metrics"
	"github.com/ifsim/ifsim/internal/testnic/cqnic"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	memSize  = 64 << 20
	patience = 20 * time.Second
)

// everything are the files of a machine that has all that is measured: three drivers, one of
// them with completion rings, VLANs, a queue of each discipline, profiled locks. em0 and em1
// are wired to each other.
var everything = map[string]string{
	"boot/device.hints": "hint.em.0.port=\"pair:t\"\nhint.em.1.port=\"pair:t\"\nhint.igb.0.port=\"null\"\nhint.cqnic.0.port=\"null\"\nhint.ifsim.0.ncpu=\"2\"\n",
	"boot/loader.conf":  "dev.em.1.iflib.simple_tx=\"1\"\n",
	"etc/rc.conf": "hostname=\"all.lab\"\nifconfig_em0=\"up\"\nifconfig_em1=\"up\"\nifconfig_igb0=\"up\"\nifconfig_cqnic0=\"up\"\n" +
		"vlans_igb0=\"7\"\nifconfig_igb0_7=\"up\"\npf_enable=\"YES\"\n",
	"etc/sysctl.conf": "debug.lock.prof.enable=1\n",
	"etc/pf.conf":     shaped,
}

// small are the files of a machine with two NICs that are wired to each other.
var small = map[string]string{
	"boot/device.hints": "hint.em.0.port=\"pair:t\"\nhint.em.1.port=\"pair:t\"\nhint.ifsim.0.ncpu=\"2\"\n",
	"etc/rc.conf":       "ifconfig_em0=\"up\"\nifconfig_em1=\"up\"\n",
}

// shaped has CBQ on em0, which has RED in a queue, and another discipline on each other.
const shaped = `altq on em0 cbq bandwidth 100Mb queue { std, web }
queue std bandwidth 60% cbq(default borrow)
queue web bandwidth 40% cbq(red)
altq on igb0 priq bandwidth 1Gb queue { low, high }
queue low priq(default)
queue high priority 7
altq on cqnic0 codel bandwidth 1Gb queue
`

// boot boots a machine, which the test closes.
func boot(t testing.TB, files map[string]string) *machine.Machine {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	var console strings.Builder
	m, err := machine.Boot(machine.Config{Files: fsys, MemSize: memSize, Console: &console, Drivers: []machine.DriverEntry{{
		Driver:      &cqnic.Driver,
		New:         func(_ string, cfg hw.Config) (hw.NIC, error) { return cqhw.New(cfg) },
		Chips:       func() []string { return []string{"CQ-1"} },
		DefaultChip: "CQ-1",
	}}})
	must(t, err)
	t.Cleanup(func() {
		must(t, m.Close())
		if t.Failed() {
			t.Log(console.String())
		}
	})
	return m
}

// awaitLink waits until interfaces have a carrier.
func awaitLink(t testing.TB, m *machine.Machine, names ...string) {
	t.Helper()
	for _, name := range names {
		eventually(t, name+" has no carrier", func() bool { return m.Ifnet(name).LinkState() == ifnet.LinkStateUp })
	}
}

// send sends packets of n bytes from an interface, and waits until the hardware has them.
func send(t testing.TB, m *machine.Machine, from string, count, n int) {
	t.Helper()
	ifp := m.Ifnet(from)
	for range count {
		c := ifp.Zones().NewCache()
		p := c.Get3(n, mbuf.FlagPktHdr)
		p.SetLen(n)
		p.Flags |= mbuf.FlagMcast
		p.Pkt.Len = int32(n)
		copy(p.Bytes(), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5})
		must(t, ifp.Transmit(p))
		c.Close()
	}
	eventually(t, "packets are stuck in "+from, func() bool {
		m.Ctx(from).KickTx()
		l := m.Ctx(from).Ledger()
		return l.Queued == 0 && l.Balanced()
	})
}

// eventually waits until something is so.
func eventually(t testing.TB, otherwise string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s after %v", otherwise, patience)
		}
	}
}

// sample is what a scrape shows: values by name and labels, as
// ifsim_x{interface="em0"}, in the order of the labels' names.
type sample map[string]float64

// scrape is what Prometheus gets.
func scrape(t testing.TB, url string) sample {
	t.Helper()
	resp, err := http.Get(url)
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", resp.Status, text)
	}
	s := make(sample)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		s[line[:at]], err = strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		must(t, err)
	}
	return s
}

// want checks a value.
func (s sample) want(t testing.TB, name string, want float64) {
	t.Helper()
	if got, ok := s[name]; !ok || got != want {
		t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
	}
}

// serve serves metrics until the test ends.
func serve(t testing.TB, src metrics.Source) *metrics.Server {
	t.Helper()
	ln, err := metrics.Listen("127.0.0.1:0", metrics.Loopback)
	must(t, err)
	s := metrics.Serve(ln, src)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		must(t, s.Close())
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
