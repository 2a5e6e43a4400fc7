package machine_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/machine"
)

// netbenchesEnv names a directory with more configurations of real routers, one
// folder each; testdata has a few of them.
const netbenchesEnv = "IFSIM_NETBENCHES"

// routerDrivers are the test NIC under the names of real drivers, so that what
// routers say of theirs has something to act on.
func routerDrivers() []machine.DriverEntry {
	var table []machine.DriverEntry
	for _, name := range []string{"igb", "igc", "ix", "ixl", "em"} {
		e := cqEntry()
		drv := *e.Driver
		drv.Name = name
		e.Driver = &drv
		table = append(table, e)
	}
	return table
}

// routerDirs are the directories of all configurations that are there.
func routerDirs(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/netbenches/[0-9]*")
	must(t, err)
	if more := os.Getenv(netbenchesEnv); more != "" {
		d, err := filepath.Glob(filepath.Join(more, "[0-9]*"))
		must(t, err)
		dirs = append(dirs, d...)
	}
	return dirs
}

func TestRoutersOfNetbenchesBoot(t *testing.T) {
	for _, dir := range routerDirs(t) {
		cfg := stepped(machine.Config{Files: os.DirFS(dir)})
		cfg.Drivers = routerDrivers()
		m, err := machine.Boot(cfg)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		w := m.Warnings()
		slices.Sort(w)
		if n := len(slices.Compact(w)); n != len(m.Warnings()) {
			t.Errorf("%s: a warning more than once in %q", dir, m.Warnings())
		}
		for _, dev := range m.Devices() {
			if m.Ctx(dev) == nil {
				t.Errorf("%s: %s did not attach", dir, dev)
			}
		}
		must(t, m.Close())
	}
}

func TestConfigurationOfARealRouterTakesEffect(t *testing.T) {
	cfg := machine.Config{Files: os.DirFS("testdata/netbenches/036-Intel-i210AT-txabdicate-off"), Drivers: routerDrivers()}
	b := boot(t, cfg)
	if got, want := b.Devices(), []string{"igb0", "igb1", "igb2"}; !slices.Equal(got, want) {
		t.Fatalf("devices %q, want %q", got, want)
	}
	ifp := b.Ifnet("igb1")
	if got := ifp.Capenable() & (ifnet.CapTSO | ifnet.CapLRO | ifnet.CapVLANHWTSO); got != 0 || ifp.Flags()&ifnet.FlagUp == 0 {
		t.Errorf("capabilities %#x, flags %#x", got, ifp.Flags())
	}
	if b.Ifnet("igb0").Capenable()&ifnet.CapTSO == 0 {
		t.Error("igb0 lost TSO")
	}
	want := []netip.Prefix{netip.MustParsePrefix("198.18.0.205/24"), netip.MustParsePrefix("2001:2::205/64")}
	got := slices.DeleteFunc(b.Addrs("igb1"), func(p netip.Prefix) bool { return p.Addr().IsLinkLocalUnicast() })
	if !slices.Equal(got, want) {
		t.Errorf("addresses %v, want %v", got, want)
	}
	if got := b.text("net.link.ifqmaxlen"); got != "2048" {
		t.Errorf("ifqmaxlen %s, want 2048", got)
	}
	for _, w := range b.Warnings() {
		if !strings.Contains(w, "sysctl: unknown oid") && !strings.HasPrefix(w, "boot/loader.conf") {
			t.Errorf("warning %q", w)
		}
	}
}
