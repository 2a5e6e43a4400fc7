package conf_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/altq/pf/conf"
)

func TestRulesAreShownAsTheyWereUnderstood(t *testing.T) {
	for text, want := range map[string]string{
		"pass":                     "pass all flags S/SA keep state",
		"pass no state":            "pass all no state",
		"pass flags any":           "pass all flags any keep state",
		"block":                    "block drop all",
		"block drop in quick":      "block drop in quick all",
		"match out on em0 queue q": "match out on em0 all queue q",
		"pass out quick on ! em0 inet proto udp all":                    "pass out quick on ! em0 inet proto udp all keep state",
		"pass proto 6 from 10/8 port 1024:65535 to 192.0.2.77 port ssh": "pass inet proto tcp from 10.0.0.0/8 port 1024:65535 to 192.0.2.77 port = ssh flags S/SA keep state",
		"pass proto tcp to 2001:db8::1/48 port != 8080 flags SA/SAFR":   "pass inet6 proto tcp from any to 2001:db8::/48 port != 8080 flags SA/FSRA keep state",
		"pass proto tcp from ! 10.1.2.3/16 to port 20 <> 30 flags /S":   "pass inet proto tcp from ! 10.1.0.0/16 to any port 20 <> 30 flags /S keep state",
		"pass proto udp from port 5 >< 9 to port >= 100":                "pass proto udp from any port 5 >< 9 to any port >= 100 keep state",
		"pass proto udp to port <= 7":                                   "pass proto udp from any to any port <= 7 keep state",
		"pass proto udp from port < 7 to port > 9":                      "pass proto udp from any port < 7 to any port > 9 keep state",
		"pass proto udp to port 53:53":                                  "pass proto udp from any to any port = domain keep state",
		"pass tos 0x1c":                                                 "pass all flags S/SA tos 0x1c keep state",
		"pass tos LowDelay queue (a, b)":                                "pass all flags S/SA tos 0x10 keep state queue(a, b)",
		"pass tos 5 queue(a)":                                           "pass all flags S/SA tos 0x05 keep state queue a",
		"pass proto gre keep state queue (a b)":                         "pass proto gre all keep state queue(a, b)",
		"pass proto 254":                                                "pass proto 254 all keep state",
		"pass to em0":                                                   "pass inet from any to 192.0.2.1 flags S/SA keep state\npass inet6 from any to 2001:db8::1 flags S/SA keep state",
		"pass from em1:network":                                         "pass inet from 198.51.100.0/25 to any flags S/SA keep state",
		"pass inet to { em0, 0.0.0.0/0 }":                               "pass inet from any to 192.0.2.1 flags S/SA keep state\npass inet all flags S/SA keep state",
	} {
		cfg, _ := load(t, text+"\n")
		if d := cmp.Diff(want+"\n", rules(cfg)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestListsExpandInFreeBSDsOrder(t *testing.T) {
	cfg, _ := load(t, "pass on { em0\nem1,\n em2 } proto { tcp, udp } from { 10.0.0.1 ::1 } to { any, 10.0.0.2 } port { 1 2:3 } flags S/SA no state\n")
	var want strings.Builder
	for _, i := range []string{"em0", "em1", "em2"} {
		for _, proto := range []string{"tcp", "udp"} {
			flags := ""
			if proto == "tcp" {
				flags = " flags S/SA"
			}
			// "any" in a list of hosts adds nothing to it.
			for _, port := range []string{"= 1", "2:3"} {
				want.WriteString("pass on " + i + " inet proto " + proto + " from 10.0.0.1 to 10.0.0.2 port " + port + flags + " no state\n")
			}
		}
	}
	if d := cmp.Diff(want.String(), rules(cfg)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestListsThatExpandTooFarAreRefused(t *testing.T) {
	list := "{ " + strings.Repeat("1 ", 300) + "}"
	_, msgs, ok := conf.Parse("pf.conf", "pass proto tcp from port "+list+" to port "+list+"\n", conf.Options{})
	if want := []string{"pf.conf:1:1: more than 65536 rules"}; ok || !cmp.Equal(want, lines(msgs)) {
		t.Errorf("ok %v, said %q", ok, msgs)
	}
}

func TestMacrosAreReplacedInTheMiddleOfWords(t *testing.T) {
	cfg, _ := load(t, `int = "em1" # the inside
ports = "{ 22, \
  80 }"
all_of = $int
pass on $all_of proto tcp from $int:network to port $ports queue 'quick'
`)
	want := "pass on em1 inet proto tcp from 198.51.100.0/25 to any port = ssh flags S/SA keep state queue quick\n" +
		"pass on em1 inet proto tcp from 198.51.100.0/25 to any port = http flags S/SA keep state queue quick\n"
	if d := cmp.Diff(want, rules(cfg)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestMacrosOfTheCommandLineStay(t *testing.T) {
	cfg, _, ok := conf.Parse("pf.conf", "if = em0\npass on $if\n", conf.Options{Macros: map[string]string{"if": "em1"}})
	if !ok || cfg.Rules[0].Ifname != "em1" {
		t.Errorf("ok %v, rules %v", ok, cfg.Rules)
	}
}

func TestLinesContinueBehindABackslash(t *testing.T) {
	cfg, _ := load(t, "pass \\\n  in \\\n  on em0\nblock \\\n")
	if d := cmp.Diff("pass in on em0 all flags S/SA keep state\nblock drop all\n", rules(cfg)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	_, msgs, _ := conf.Parse("pf.conf", "pass \\\n  on \\\n  ?\n", conf.Options{})
	if want := []string{"pf.conf:3:3: syntax error"}; !cmp.Equal(want, lines(msgs)) {
		t.Errorf("said %q, want %q", msgs, want)
	}
}

func TestIncludedFilesAreReadInPlace(t *testing.T) {
	files := map[string]string{"a": "x = em1\npass on em0\ninclude \"b\"", "b": "block on em0\npass bad\n", "loop": "include \"loop\"\n"}
	open := func(name string) (string, error) {
		text, ok := files[name]
		if !ok {
			return "", errors.New("no such file")
		}
		return text, nil
	}
	_, msgs, _ := conf.Parse("pf.conf", "include \"a\"\npass on $x\npass worse\n", conf.Options{Open: open})
	want := []string{"b:2:6: syntax error", "pf.conf:3:6: syntax error"}
	if d := cmp.Diff(want, lines(msgs)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	files["b"] = "block on em0\n"
	cfg, _, ok := conf.Parse("pf.conf", "include \"a\"\npass on $x\n", conf.Options{Open: open})
	if d := cmp.Diff("pass on em0 all flags S/SA keep state\nblock drop on em0 all\npass on em1 all flags S/SA keep state\n", rules(cfg)); !ok || d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	_, msgs, ok = conf.Parse("loop", files["loop"], conf.Options{Open: open})
	if want := []string{"loop:1:9: failed to include file loop"}; ok || !cmp.Equal(want, lines(msgs)) {
		t.Errorf("loop: ok %v, said %q", ok, msgs)
	}
}

func TestOptionsAreTaken(t *testing.T) {
	cfg, _ := load(t, `set skip on { lo0 em1 }
set limit { states 4000000 }
set timeout { tcp.established 3600, udp.single 10 }
set block-policy drop
set state-policy floating
set ruleset-optimization none
set debug urgent
set require-order no
pass
set limit states 5
`)
	if !cmp.Equal(cfg.Skip, []string{"lo0", "em1"}) || cfg.StateLimit != 5 ||
		!maps.Equal(cfg.Timeouts, map[string]uint32{"tcp.established": 3600, "udp.single": 10}) {
		t.Errorf("skip %q, limit %d, timeouts %v", cfg.Skip, cfg.StateLimit, cfg.Timeouts)
	}
}

func TestDefaultsOfTimeouts(t *testing.T) {
	for name, want := range map[string]uint32{"tcp.established": 86400, "tcp.closing": 900, "udp.multiple": 60, "frag": 0} {
		if got := conf.DefaultTimeout(name); got != want {
			t.Errorf("%s: %d s, want %d", name, got, want)
		}
	}
}

func TestWhatIsNotKnownIsNamedAndLeftOutAsAWhole(t *testing.T) {
	const text = `set limit { states 7, frags 20000 }
set optimization aggressive
table <t> const { 1.1.1.0/24,
  1.1.2.0/24 }
scrub in all
nat on em0 from 10/8 to any -> (em0)
block quick from <t>
pass log all
pass in proto tcp from any \
  to (em0) port 22 label "x"
pass out user root
pass out proto icmp icmp-type echoreq
block return
pass keep state (max 5)
pass to 10.0.0.1 - 10.0.0.9
pass ! tagged x
anchor "a" {
  pass
}
antispoof for em0
pass on em0
`
	const why = ": not in the subset of pf.conf(5) that is known here"
	named := []struct{ at, what, text string }{
		{"1:5", "limit frags", "set limit { states 7, frags 20000 }"},
		{"2:5", "optimization aggressive", "set optimization aggressive"},
		{"3:1", "table", "table <t> const { 1.1.1.0/24, 1.1.2.0/24 }"},
		{"5:1", "scrub", "scrub in all"},
		{"6:1", "nat", "nat on em0 from 10/8 to any -> (em0)"},
		{"7:18", "table", "block quick from <t>"},
		{"8:6", "log", "pass log all"},
		{"10:6", "dynamic interface address", `pass in proto tcp from any \\ to (em0) port 22 label \"x\"`},
		{"11:10", "user", "pass out user root"},
		{"12:21", "icmp-type", "pass out proto icmp icmp-type echoreq"},
		{"13:7", "block return", "block return"},
		{"14:17", "state options", "pass keep state (max 5)"},
		{"15:9", "address range", "pass to 10.0.0.1 - 10.0.0.9"},
		{"16:6", "tagged", "pass ! tagged x"},
		{"17:1", "anchor", `anchor \"a\" { pass }`},
		{"20:1", "antispoof", "antispoof for em0"},
	}
	var strict, lax []string
	for _, n := range named {
		strict = append(strict, "pf.conf:"+n.at+": "+n.what+why+`: "`+n.text+`"`)
		lax = append(lax, "pf.conf:"+n.at+": "+n.what+why+`, left out: "`+n.text+`"`)
	}
	_, msgs, ok := conf.Parse("pf.conf", text, conf.Options{})
	if d := cmp.Diff(strict, lines(msgs)); ok || d != "" {
		t.Errorf("strict, ok %v (-want +got):\n%s", ok, d)
	}
	cfg, msgs, ok := conf.Parse("pf.conf", text, conf.Options{Lax: true})
	if d := cmp.Diff(lax, lines(msgs)); !ok || d != "" {
		t.Errorf("lax, ok %v (-want +got):\n%s", ok, d)
	}
	if d := cmp.Diff("pass on em0 all flags S/SA keep state\n", rules(cfg)); d != "" || cfg.StateLimit != 0 {
		t.Errorf("state limit %d, rules (-want +got):\n%s", cfg.StateLimit, d)
	}
}
