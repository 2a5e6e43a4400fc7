package conf_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/altq/pf/conf"
)

// cbq10 and its like are the first lines of texts whose fourth line is wrong.
const (
	cbq10  = "altq on em0 cbq bandwidth 10Mb queue { a b }\nqueue b bandwidth 1Mb cbq(default)\n\n"
	priq10 = "altq on em0 priq bandwidth 10Mb queue { a b }\nqueue b priq(default)\n\n"
	hfsc10 = "altq on em0 hfsc bandwidth 10Mb queue { a b }\nqueue b bandwidth 1Mb hfsc(default)\n\n"
	fair10 = "altq on em0 fairq bandwidth 10Mb queue { a b }\nqueue b bandwidth 1Mb fairq(default)\n\n"
)

func TestErrorsOfQueues(t *testing.T) {
	const bad = "\npf.conf:4:1: errors in queue definition"
	for _, c := range []struct{ text, want string }{
		// The altq line.
		{"altq on em0 bandwidth 1Mb queue a\n", "pf.conf:1:1: no scheduler specified!"},
		{"altq on em0 cbq queue\n", "pf.conf:1:1: no child queues specified"},
		{"altq on em0 cbq\n", "pf.conf:1:16: syntax error"},
		{"altq on ! em0 cbq queue a\n", "pf.conf:1:9: altq on ! <interface> is not supported"},
		{"altq on em2 cbq queue a\n", "pf.conf:1:1: interface em2 does not know its bandwidth, please specify an absolute bandwidth"},
		{"altq on em9 cbq queue a\n", "pf.conf:1:1: SIOCGIFDATA: Device not configured"},
		{"altq cbq queue a\n", "pf.conf:1:1: SIOCGIFDATA: Device not configured"},
		{"altq on interface_of_16b cbq queue a\n", "pf.conf:1:9: interface name too long"},
		// Options.
		{"altq on em0 cbq bandwidth 1Mb bandwidth 2Mb queue a\n", "pf.conf:1:31: bandwidth cannot be respecified"},
		{"altq on em0 cbq priq queue a\n", "pf.conf:1:17: scheduler cannot be respecified"},
		{"altq on em0 cbq tbrsize 1 tbrsize 2 queue a\n", "pf.conf:1:27: tbrsize cannot be respecified"},
		{"altq on em0 cbq qlimit 1 qlimit 2 queue a\n", "pf.conf:1:26: qlimit cannot be respecified"},
		{"altq on em0 cbq priority 1 priority 2 queue a\n", "pf.conf:1:28: priority cannot be respecified"},
		{"altq on em0 cbq priority 256 queue a\n", "pf.conf:1:26: priority out of range: max 255"},
		{"altq on em0 cbq priority -1 queue a\n", "pf.conf:1:26: priority out of range: max 255"},
		{"altq on em0 cbq qlimit 65536 queue a\n", "pf.conf:1:24: qlimit out of range: max 65535"},
		{"altq on em0 cbq tbrsize 4294967296 queue a\n", "pf.conf:1:25: tbrsize too big: max 4294967295"},
		{"altq on em0 cbq bandwidth 101% queue a\n", "pf.conf:1:27: bandwidth spec out of range"},
		{"altq on em0 cbq bandwidth 1m queue a\n", "pf.conf:1:27: unknown unit m"},
		{"altq on em0 cbq bandwidth 1.5 queue a\n", "pf.conf:1:27: unknown unit "},
		{"altq on em0 cbq bandwidth 9223372036854775807 queue a\n", "pf.conf:1:27: bandwidth number too big"},
		{"altq on em0 cbq bandwidth 9223372036854775808 queue a\n", "pf.conf:1:27: \"9223372036854775808\" invalid number: too large"},
		{"altq on em0 cbq bandwidth 99999999999999999Gb queue a\n", "pf.conf:1:27: bandwidth number too big"},
		{"altq on em0 cbq(fast) queue a\n", "pf.conf:1:17: unknown cbq flag \"fast\""},
		{"altq on em0 priq(borrow) queue a\n", "pf.conf:1:18: unknown priq flag \"borrow\""},
		{"altq on em0 hfsc(cleardscp) queue a\n", "pf.conf:1:18: unknown hfsc flag \"cleardscp\""},
		{"altq on em0 fairq(borrow) queue a\n", "pf.conf:1:19: unknown fairq flag \"borrow\""},
		{"altq on em0 codel(red) queue\n", "pf.conf:1:19: unknown codel option \"red\""},
		{"altq on em0 codel(target 5 target 6) queue\n", "pf.conf:1:28: target already specified"},
		{"altq on em0 codel(interval 5 interval 6) queue\n", "pf.conf:1:30: interval already specified"},
		{"altq on em0 codel(target x) queue\n", "pf.conf:1:26: x is not a number"},
		{"altq on em0 hfsc(realtime 1Mb realtime 2Mb) queue a\n", "pf.conf:1:31: realtime already specified"},
		{"altq on em0 hfsc(upperlimit(1Mb, 2147483648, 2Mb)) queue a\n", "pf.conf:1:34: timing in curve out of range"},
		// The queue line.
		{"queue a priority 3\n", "pf.conf:1:1: queue a has no parent\npf.conf:1:1: errors in queue definition"},
		{cbq10 + "queue c\n", "pf.conf:4:1: queue c has no parent" + bad},
		{cbq10 + "queue a on em1\n", "pf.conf:4:1: queue a has no parent" + bad},
		{cbq10 + "queue a priq\n", "pf.conf:4:1: exactly one scheduler type per interface allowed" + bad},
		{cbq10 + "queue " + strings.Repeat("n", 64) + "\n", "pf.conf:4:1: queue name too long (max 63 chars)"},
		{cbq10 + "queue a { " + strings.Repeat("n", 64) + " }\n", "pf.conf:4:11: queue name '" + strings.Repeat("n", 64) + "' too long (max 63 chars)"},
		{cbq10 + "queue a bandwidth 1Mb { a }\n", "pf.conf:4:1: queue cannot have itself as child" + bad},
		{cbq10 + "queue b\n", "pf.conf:4:1: queue b already exists on interface em0" + bad},
		{cbq10 + "queue a tbrsize 3000\n", "pf.conf:4:1: cannot specify tbrsize for queue"},
		{cbq10 + "queue a bandwidth 1Mb priority 8\n", "pf.conf:4:1: priority out of range: max 7" + bad},
		{priq10 + "queue a priority 2 { c }\n", "pf.conf:4:1: priq queues cannot have child queues" + bad},
		{priq10 + "queue a priority 2 bandwidth 1Mb\n", "pf.conf:4:1: priq doesn't take bandwidth" + bad},
		{priq10 + "queue a priority 16\n", "pf.conf:4:1: priority out of range: max 15" + bad},
		{priq10 + "queue a\n", "pf.conf:4:1: a does not have a unique priority on interface em0" + bad},
		{hfsc10 + "queue a bandwidth 1Mb hfsc(realtime(1Mb 10 0b))\n", "pf.conf:4:1: m2 is zero for a" + bad},
		{hfsc10 + "queue a bandwidth 1Mb hfsc(realtime(1Mb 10 2Mb))\n", "pf.conf:4:1: m1 must be zero for convex curve: a" + bad},
		{hfsc10 + "queue a bandwidth 1Mb hfsc(realtime 81%)\n", "pf.conf:4:1: real-time sc exceeds 80% of the interface bandwidth (8Mb)" + bad},
		{hfsc10 + "queue a bandwidth 9100Kb\n", "pf.conf:4:1: linkshare sc exceeds parent's sc" + bad},
		{hfsc10 + "queue a\n", "pf.conf:4:1: linkshare sc exceeds parent's sc" + bad},
		{hfsc10 + "queue a bandwidth 1Mb hfsc(realtime 2Mb upperlimit 1Mb)\n", "pf.conf:4:1: upper-limit sc smaller than real-time sc" + bad},
		{fair10 + "queue a bandwidth 9100Kb priority 2\n", "pf.conf:4:1: the sum of the child bandwidth (10100000) higher than parent \"root_em0\" (10000000)\npf.conf:4:1: link-sharing sc exceeds parent's sc" + bad},
		{fair10 + "queue a bandwidth 1Mb priority 1\n", "pf.conf:4:1: DIOCADDALTQ: Device busy" + bad},
		{fair10 + "queue a bandwidth 1Mb priority 0\n", "pf.conf:4:1: DIOCADDALTQ: Device busy" + bad},
		{fair10 + "queue a bandwidth 1Mb priority 8\n", "pf.conf:4:1: DIOCADDALTQ: Invalid argument" + bad},
		// The commit.
		{"altq on em0 priq queue a\nqueue a\naltq on em1 priq queue a\nqueue a on em1 priq(default)\n", "pf.conf:1:1: should have one default queue on em0"},
		{"altq on em0 cbq queue a\nqueue a\n", "pf.conf:1:1: should have one default queue on em0"},
		{"altq on em0 hfsc queue { a b }\nqueue a bandwidth 10% hfsc(default)\nqueue b bandwidth 10% hfsc(default)\n", "pf.conf:1:1: should have one default queue on em0"},
		{"altq on em0 priq queue a\nqueue a priq(default)\naltq on em0 priq queue b\nqueue b priq(default)\n", "pf.conf:3:9: altq on em0 already defined"},
	} {
		cfg, msgs, ok := conf.Parse("pf.conf", c.text, conf.Options{Interface: ifaces})
		got := strings.Join(lines(msgs), "\n")
		// What the last lines lack is said too; the first messages are what is tested.
		if ok || len(cfg.Altqs) != 0 || !strings.HasPrefix(got+"\n", c.want+"\n") {
			t.Errorf("%s\n%s", c.text, cmp.Diff(c.want, got))
		}
	}
}

func TestDefaultQueueMustBeALeaf(t *testing.T) {
	for _, kind := range []string{"hfsc", "fairq"} {
		text := "altq on em0 " + kind + " bandwidth 10Mb queue a\nqueue a bandwidth 50% " + kind + "(default) b\nqueue b bandwidth 10% priority 2\n"
		_, msgs, ok := conf.Parse("pf.conf", text, conf.Options{Interface: ifaces})
		want := []string{"pf.conf:3:1: adding b would make default queue a not a leaf", "pf.conf:3:1: errors in queue definition"}
		if d := cmp.Diff(want, lines(msgs)); ok || d != "" {
			t.Errorf("%s: (-want +got):\n%s", kind, d)
		}
	}
}

func TestUpperLimitStaysBelowTheInterface(t *testing.T) {
	// A limit is cut to the parent's bandwidth, so it cannot be above the interface.
	cfg, _ := load(t, hfsc10+"queue a bandwidth 1Mb hfsc(upperlimit 90Mb)\n")
	if got := cfg.Altqs[3].Upperlimit.M2; got != 10e6 {
		t.Errorf("upper limit %d", got)
	}
}

func TestGuaranteesAreAddedUpOverTheInterface(t *testing.T) {
	text := hfsc10 + "queue a bandwidth 9Mb hfsc(realtime(8Mb 10 1Mb)) { c d }\nqueue c bandwidth 1Mb hfsc(realtime(0b 10 7Mb))\nqueue d bandwidth 1Mb hfsc(realtime 1Mb)\n"
	_, msgs, ok := conf.Parse("pf.conf", text, conf.Options{Interface: ifaces})
	want := []string{
		"pf.conf:6:1: real-time sc exceeds 80% of the interface bandwidth (8Mb)",
		"pf.conf:6:1: errors in queue definition",
	}
	if d := cmp.Diff(want, lines(msgs)); ok || d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestErrorsOfRules(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"pass foo\n", "pf.conf:1:6: syntax error"},
		{"pass\tproto\ttcp from any to any prot 1\n", "pf.conf:1:32: syntax error"},
		{"pass proto foo\n", "pf.conf:1:12: unknown protocol foo"},
		{"pass proto 256\n", "pf.conf:1:12: protocol outside range"},
		{"pass proto { tcp 0 }\n", "pf.conf:1:18: proto 0 cannot be used"},
		{"pass from 1.2.3.4/33\n", "pf.conf:1:11: no IP address found for 1.2.3.4\npf.conf:1:11: could not parse host specification"},
		{"pass from 2001:db8::/129\n", "pf.conf:1:22: could not parse host specification"},
		{"pass from nowhere\n", "pf.conf:1:11: no IP address found for nowhere\npf.conf:1:11: could not parse host specification"},
		{"pass proto tcp to port nothing\n", "pf.conf:1:24: unknown port nothing"},
		{"pass proto tcp to port 65536\n", "pf.conf:1:24: illegal port value 65536"},
		{"pass proto tcp to port != 1:2\n", "pf.conf:1:27: ':' cannot be used with an other port operator"},
		{"pass proto tcp to port 1:2 <> 4\n", "pf.conf:1:24: ':' cannot be used with an other port operator"},
		{"pass to port 80\n", "pf.conf:1:1: port only applies to tcp/udp\npf.conf:1:1: skipping rule due to errors"},
		{"pass proto icmp inet6\n", "pf.conf:1:17: syntax error"},
		{"pass inet6 proto icmp\n", "pf.conf:1:1: proto icmp doesn't match address family inet6\npf.conf:1:1: skipping rule due to errors"},
		{"pass inet proto icmp6\n", "pf.conf:1:1: proto icmp6 doesn't match address family inet\npf.conf:1:1: skipping rule due to errors"},
		{"block keep state\n", "pf.conf:1:1: keep state is great, but only for pass rules\npf.conf:1:1: skipping rule due to errors"},
		{"match all keep state\n", "pf.conf:1:1: keep state is great, but only for pass rules\npf.conf:1:1: skipping rule due to errors"},
		{"pass inet from 2001:db8::1\n", "pf.conf:1:1: rule expands to no valid combination"},
		{"pass from 10/8 to 2001:db8::1\n", "pf.conf:1:1: rule expands to no valid combination"},
		{"pass proto tcp flags S/A\n", "pf.conf:1:1: flags always false"},
		{"pass proto udp flags S/SA\n", "pf.conf:1:1: flags only apply to tcp"},
		{"pass proto tcp flags X/SA\n", "pf.conf:1:22: bad flags X"},
		{"pass proto tcp flags S/SA flags S/SA\n", "pf.conf:1:27: flags cannot be redefined"},
		{"pass tos 256\n", "pf.conf:1:10: illegal tos value 256"},
		{"pass tos bogus\n", "pf.conf:1:10: illegal tos value bogus"},
		{"pass tos ef tos ef\n", "pf.conf:1:13: tos cannot be redefined"},
		{"pass keep state no state\n", "pf.conf:1:17: modulate or keep cannot be redefined"},
		{"pass queue a queue b\n", "pf.conf:1:14: queue cannot be redefined"},
		{"pass queue (a b c)\n", "pf.conf:1:17: syntax error"},
		{"pass\nset skip on lo0\nset limit states 5\n", "pf.conf:3:1: Rules must be in order: options, ethernet, normalization, queueing, translation, filtering"},
		{"pass\naltq on em0 priq queue a\n", "pf.conf:2:1: Rules must be in order: options, ethernet, normalization, queueing, translation, filtering"},
		{"set skip on ! em0\n", "pf.conf:1:13: skip on ! <interface> is not supported"},
		{"set timeout tcp.forever 1\n", "pf.conf:1:5: unknown timeout tcp.forever"},
		{"set limit states -1\n", "pf.conf:1:18: only positive values permitted"},
		{"set require-order maybe\n", "pf.conf:1:19: invalid value 'maybe', expected 'yes' or 'no'"},
		{"\"a b\" = 1\n", "pf.conf:1:1: macro name cannot contain whitespace"},
		{"pass on $x\n", "pf.conf:1:9: macro 'x' not defined"},
		{"include \"missing\"\n", "pf.conf:1:9: failed to include file missing"},
		{"x = \"unfinished\n", "pf.conf:1:5: reached end of file while parsing quoted string"},
		{"pass proto tcp to port {\n80 81\nx = 1\n", "pf.conf:3:1: unknown port x"},
	} {
		cfg, msgs, ok := conf.Parse("pf.conf", c.text, conf.Options{Interface: ifaces})
		if got := strings.Join(lines(msgs), "\n"); ok || len(cfg.Rules) != 0 || !strings.HasPrefix(got+"\n", c.want+"\n") {
			t.Errorf("%s\n%s", c.text, cmp.Diff(c.want, got))
		}
	}
}

func TestOneLineIsLostToAnError(t *testing.T) {
	_, msgs, _ := conf.Parse("pf.conf", "pass foo\npass\npass on $y\npass bar\nblock proto\npass baz", conf.Options{})
	want := []string{
		"pf.conf:1:6: syntax error", "pf.conf:3:9: macro 'y' not defined", "pf.conf:4:6: syntax error",
		"pf.conf:5:12: syntax error", "pf.conf:6:6: syntax error",
	}
	if d := cmp.Diff(want, lines(msgs)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
