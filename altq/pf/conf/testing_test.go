package conf_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/altq/pf/conf"
)

// ifaces is a machine with two interfaces of 1 Gb/s, one that does not know its speed,
// and one beyond 32 bits.
func ifaces(name string) (conf.Interface, bool) {
	i, ok := map[string]conf.Interface{
		"em0": {Speed: 1e9, MTU: 1500, Addrs: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("fe80::1/64"), netip.MustParsePrefix("2001:db8::1/64")}},
		"em1": {Speed: 1e9, MTU: 1500, Addrs: []netip.Prefix{netip.MustParsePrefix("198.51.100.1/25")}},
		"em2": {MTU: 1500},
		"ix0": {Speed: 10e9, MTU: 9000},
	}[name]
	return i, ok
}

// load reads a text that must load and returns it with what it says.
func load(t *testing.T, text string) (conf.Config, []string) {
	t.Helper()
	cfg, msgs, ok := conf.Parse("pf.conf", text, conf.Options{Interface: ifaces})
	if !ok {
		t.Fatalf("%s\ndoes not load: %v", text, msgs)
	}
	return cfg, lines(msgs)
}

func lines(msgs []conf.Message) []string {
	var l []string
	for _, m := range msgs {
		l = append(l, m.String())
	}
	return l
}

// rules are the rules as they are shown.
func rules(cfg conf.Config) string {
	var b strings.Builder
	for _, r := range cfg.Rules {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}

// altqs are the definitions as they are shown, with the blank that each ends with.
func altqs(cfg conf.Config) string {
	var b strings.Builder
	for i := range cfg.Altqs {
		fmt.Fprintln(&b, cfg.Altqs[i].Line(0))
	}
	return b.String()
}

// verbose is what pfctl -nv prints.
func verbose(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if _, msgs, ok := conf.Parse("pf.conf", text, conf.Options{Interface: ifaces, Verbose: &b}); !ok {
		t.Fatalf("%s\ndoes not load: %v", text, msgs)
	}
	return b.String()
}
