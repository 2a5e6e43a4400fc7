package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/ifsim/ifsim/"

// floors lists the packages by longest matching prefix. Floors are tens: 21 is
// floor 2.1. Packages of one floor do not import each other, but a package may
// import one below its own path (a kind, a register file).
var floors = []struct {
	prefix string
	floor  int
}{
	{"cmd/ifsim", 70},
	{"internal/bench", 62},
	{"internal/bench/stat", 0},
	{"client", 1},
	{"internal/ctl", 62},
	{"internal/ctl/sockpath", 0},
	{"internal/ctl/tool", 1},
	{"internal/ctl/tool/tooltest", 22},
	{"internal/ctl/arp8", 23},
	{"internal/ctl/ndp8", 23},
	{"internal/ctl/route8", 23},
	{"internal/machine", 61},
	{"internal/metrics", 62},
	{"internal/newdriver", 62},
	{"internal/newdriver/skelboot", 71},
	{"internal/sight", 45},
	{"internal/trace", 62},
	{"internal/testnic", 53},
	{"internal/testnic/nicdrv", 52},
	{"internal/testnic/offload", 52},
	{"internal/testnic/rig", 52},
	{"internal/kern", 5},
	{"internal/bitname", 0},
	{"internal/complete", 0},
	{"internal/shell", 0},
	{"internal/physmem", 2},
	{"internal/probe", 2},
	{"internal/getopt", 0},
	{"internal/house", 0},
	{"internal/inaddr", 0},
	{"internal/netns", 0},
	{"internal/nstest", 1},
	{"internal/quiet", 0},
	{"internal/quiet/quietbench", 1},
	{"iflib/iflibtest", 60},
	{"iflib/lro", 39},
	{"iflib/mpring", 30},
	{"iflib/bufring", 30},
	{"iflib/busdma", 30},
	{"iflib/pci", 30},
	{"iflib", 40},
	{"drivers/hw", 51},
	{"drivers/internal", 51},
	{"drivers/internal/e1000/e1000hw", 52},
	{"drivers/port", 50},
	{"drivers", 53},
	{"altq", 30},
	{"altq/red", 31},
	{"altq/codel", 31},
	{"altq/aqm", 32},
	{"altq/priq", 33},
	{"altq/cbq", 33},
	{"altq/hfsc", 33},
	{"altq/fairq", 33},
	{"altq/pf", 34},
	{"altq/altqsim", 34},
	{"altq/altqtest", 35},
	{"ifnet/inet", 21},
	{"ifnet/vlan", 21},
	{"ifnet/bpf", 11},
	{"ifnet/mbuf", 10},
	{"ifnet", 20},
	{"sysctl", 0},
	{"sysctl/sysctl8", 1},
}

// registers are packages of constants, which stand below everything but what spells
// their bits.
const (
	registers      = "reg"
	registersFloor = 1
)

func floorOf(path string) (int, bool) {
	if strings.HasSuffix(path, registers) {
		return registersFloor, true
	}
	best, floor := -1, 0
	for _, f := range floors {
		if (path == f.prefix || strings.HasPrefix(path, f.prefix+"/")) && len(f.prefix) > best {
			best, floor = len(f.prefix), f.floor
		}
	}
	return floor, best >= 0
}

type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func list(t *testing.T) []listed {
	t.Helper()
	// Without a profile: with one, what a command imports is listed as variants.
	cmd := exec.Command("go", "list", "-pgo=off", "-json=ImportPath,Dir,GoFiles,Imports", module+"...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestPackagesImportOnlyLowerFloors(t *testing.T) {
	for _, p := range list(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		floor, ok := floorOf(from)
		if !ok {
			t.Errorf("%s has no floor", from)
			continue
		}
		for _, imp := range p.Imports {
			to, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			if below, ok := floorOf(to); !ok || (below >= floor && !strings.HasPrefix(to, from+"/") && !strings.HasPrefix(from, to+"/")) {
				t.Errorf("%s (floor %d) imports %s (floor %d)", from, floor, to, below)
			}
		}
	}
}

func TestDriversTalkToHardwareOnlyThroughTheBus(t *testing.T) {
	for _, p := range list(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		if !strings.HasPrefix(from, "drivers/") && !strings.HasPrefix(from, "internal/testnic/") {
			continue
		}
		// offload and rig are the hardware side's own, without a driver.
		isHardware := strings.HasSuffix(from, "hw") || from == "internal/testnic/offload" || from == "internal/testnic/rig"
		for _, imp := range p.Imports {
			to, _ := strings.CutPrefix(imp, module)
			model := strings.HasSuffix(to, "hw") && to != "drivers/hw"
			if model && !isHardware {
				t.Errorf("driver %s imports hardware %s", from, to)
			}
			if to == "drivers/hw" && !isHardware && from != "drivers/internal/e1000" {
				t.Errorf("driver %s imports the hardware kit", from)
			}
		}
	}
}
