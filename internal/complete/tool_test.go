package complete_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/internal/complete"
)

// lab answers as a machine with em0 and a detached em1.
func lab(tool string, args ...string) []string {
	return map[string][]string{
		"ifconfig -l":   {"em0 vlan7"},
		"kenv -N":       {"boot.x", "hint.em.0.port", "hint.em.1.port"},
		"kenv -hN":      {"hint.em.0.at", "hint.em.0.port", "hint.em.1.port", "hint.ifsim.0.ncpu"},
		"sysctl -N -a":  {"kern.ostype", "kern.osrelease", "dev.em.0.%desc", "net.x"},
		"sysctl -N dev": {"dev.em.0.%desc", "dev.em.0.fc", "dev.em.0.iflib.txq0.pkts", "dev.igb.3.%desc"},
		"sysctl -N dev.em.0": {"dev.em.0.%desc", "dev.em.0.fc", "dev.em.0.iflib", "dev.em.0.iflib.simple_tx",
			"dev.em.0.iflib.txq0.pkts"},
	}[strings.Join(append([]string{tool}, args...), " ")]
}

func TestWordsOfToolsAreCompleted(t *testing.T) {
	for _, c := range []struct {
		line string // its last word is completed
		want complete.Choice
	}{
		{"sysctl k", complete.Choice{Words: []string{"kern."}, Open: true}},
		{"sysctl -d ", complete.Choice{Words: []string{"dev.", "kern.", "net."}, Open: true}},
		{"sysctl kern.ostype dev.em.0.i", complete.Choice{Words: []string{"dev.em.0.iflib."}, Open: true}},
		{"sysctl dev.em.0.f", complete.Choice{Words: []string{"dev.em.0.fc"}}},
		{"sysctl no.such.", complete.Choice{}},
		{"sysctl -f ", complete.Choice{Files: true}},
		{"sysctl -B ", complete.Choice{}},
		{"sysctl -B 9 n", complete.Choice{Words: []string{"net."}, Open: true}},
		{"sysctl -", complete.Choice{}},
		{"ifconfig ", complete.Choice{Words: []string{"em0", "vlan7"}}},
		{"ifconfig -v v", complete.Choice{Words: []string{"vlan7"}}},
		{"ifconfig em0 ", complete.Choice{}},
		{"netstat -bI ", complete.Choice{Words: []string{"em0", "vlan7"}}},
		{"netstat -Iem0 ", complete.Choice{}},
		{"netstat -f i", complete.Choice{Words: []string{"inet", "inet6"}}},
		{"kenv -u hint.", complete.Choice{Words: []string{"hint.em.0.port", "hint.em.1.port"}}},
		{"kenv a ", complete.Choice{}},
		{"devctl a", complete.Choice{Words: []string{"attach"}}},
		{"devctl detach -f ", complete.Choice{Words: []string{"em0", "em1", "igb3"}}},
		{"devctl attach em1 ", complete.Choice{}},
		{"devinfo -vp em", complete.Choice{Words: []string{"em0", "em1"}}},
		{"pciconf -lv -o j", complete.Choice{Words: []string{"json"}}},
		{"pciconf -r i", complete.Choice{Words: []string{"igb3"}}},
		{"pciconf -r igb3 ", complete.Choice{}},
		{"pfctl -vs r", complete.Choice{Words: []string{"rules"}}},
		{"pktgen -qi e", complete.Choice{Words: []string{"em0"}}},
		{"pktgen -i em0 -S ", complete.Choice{}},
		{"pktgen -i em0 -n 5 -f p", complete.Choice{Words: []string{"ping", "pong"}}},
		{"tcpdump -ni v", complete.Choice{Words: []string{"vlan7"}}},
		{"tcpdump -w ", complete.Choice{Files: true}},
		{"dmesg ", complete.Choice{}},
		{"vi ", complete.Choice{}},
	} {
		words := strings.Split(c.line, " ")
		last := len(words) - 1
		got := complete.Tool(lab, words[0], words[1:last], words[last])
		if len(got.Words) == 0 {
			got.Words = nil
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q:\n%s", c.line, d)
		}
	}
}

func TestNothingIsOfferedWithoutAMachine(t *testing.T) {
	none := func(string, ...string) []string { return nil }
	for _, tool := range []string{"sysctl", "kenv", "ifconfig"} {
		if c := complete.Tool(none, tool, nil, ""); len(c.Words) > 0 {
			t.Errorf("%s: %q", tool, c.Words)
		}
	}
}
