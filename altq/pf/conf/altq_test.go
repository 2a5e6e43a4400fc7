package conf_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/altq/pf/conf"
)

func TestStatementsAreShownAsTheyWereUnderstood(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			"altq on em0 cbq bandwidth 10Mb queue { std, bulk }\nqueue std bandwidth 60% cbq(default borrow)\nqueue bulk bandwidth 4Mb priority 0 cbq(red, ecn)\n",
			"altq on em0 cbq bandwidth 10Mb tbrsize 6000 \nqueue root_em0 on em0 bandwidth 10Mb priority 0 cbq( wrr root ) \n" +
				"queue std on em0 bandwidth 6Mb cbq( borrow default ) \nqueue bulk on em0 bandwidth 4Mb priority 0 cbq( red ecn ) \n",
		},
		{
			"altq on em0 priq bandwidth 1500Kb qlimit 100 tbrsize 3000 queue { a b }\nqueue a priority 15 priq(rio)\nqueue b priq(default codel) qlimit 0\n",
			"altq on em0 priq bandwidth 1.50Mb qlimit 100 tbrsize 3000 \nqueue a on em0 priority 15 priq( rio ) \nqueue b on em0 priq( codel default ) \n",
		},
		{
			"altq on em0 bandwidth 10Mb hfsc queue { x y }\nqueue x bandwidth 40% hfsc(realtime(2Mb, 100, 1Mb) linkshare 30% upperlimit 50%)\nqueue y bandwidth 60% hfsc(default)\n",
			"altq on em0 hfsc bandwidth 10Mb tbrsize 6000 \nqueue root_em0 on em0 bandwidth 10Mb priority 0 \n" +
				"queue x on em0 bandwidth 4Mb hfsc( realtime(2Mb 100 1Mb) linkshare 3Mb upperlimit 5Mb ) \nqueue y on em0 bandwidth 6Mb hfsc( default ) \n",
		},
		{
			"altq on em0 fairq bandwidth 10Mb queue g\nqueue g bandwidth 90% fairq(default, buckets 0x40, hogs 10%, linkshare(1Mb 5 2Mb))\n",
			"altq on em0 fairq bandwidth 10Mb tbrsize 6000 \nqueue root_em0 on em0 bandwidth 10Mb priority 0 \nqueue g on em0 bandwidth 9Mb fairq( default linkshare(1Mb 5 2Mb) ) \n",
		},
		{
			"altq on em0 codelq(target 3, interval 50 ecn) bandwidth 500b queue\naltq on em1 codel queue\n",
			"altq on em0 codel( target 3 interval 50ecn ) bandwidth 500 b tbrsize 1500 \naltq on em1 codel bandwidth 1Gb tbrsize 36000 \n",
		},
		{
			"altq on ix0 hfsc queue q\nqueue q hfsc(default realtime 5G)\n",
			"altq on ix0 hfsc bandwidth 10Gb tbrsize 1152000 \nqueue root_ix0 on ix0 bandwidth 10Gb priority 0 \nqueue q on ix0 bandwidth 10Gb hfsc( default realtime 705.03Mb ) \n",
		},
	} {
		cfg, _ := load(t, c.text)
		if d := cmp.Diff(c.want, altqs(cfg)); d != "" {
			t.Errorf("%s\n(-want +got):\n%s", c.text, d)
		}
	}
}

func TestSlowQueueOfCBQIsWarnedOf(t *testing.T) {
	_, msgs := load(t, "altq on em0 cbq bandwidth 1Mb queue a\nqueue a bandwidth 1Kb cbq(default)\n")
	want := []string{"pf.conf:2:1: queue bandwidth must be larger than 5.59Kb", "pf.conf:2:1: cbq: queue a is too slow!"}
	if d := cmp.Diff(want, msgs); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRatesAreWrittenAsPfctlDoes(t *testing.T) {
	for bps, want := range map[float64]string{0: "0 b", 500: "500 b", 999.5: "999.50 b", 1500: "1.50Kb", 10e6: "10Mb", 1.5e6: "1.50Mb", 999999: "1000.00Kb", 2e9: "2Gb", 4e12: "4", 1.25e12: "1.25"} {
		if got := conf.Rate(bps); got != want {
			t.Errorf("%v b/s: %q, want %q", bps, got, want)
		}
	}
}

func TestQueueOnSeveralInterfacesIsDefinedOnEach(t *testing.T) {
	cfg, _ := load(t, `
ext = "em0 em1"
altq on { $ext } priq bandwidth 10Mb queue { fast, slow }
queue fast on em0 priority 7
queue fast on em1 priority 6
queue slow priq(default)
`)
	want := "altq on em0 priq bandwidth 10Mb tbrsize 6000 \naltq on em1 priq bandwidth 10Mb tbrsize 6000 \n" +
		"queue fast on em0 priority 7 \nqueue fast on em1 priority 6 \nqueue slow on em0 priq( default ) \nqueue slow on em1 priq( default ) \n"
	if d := cmp.Diff(want, altqs(cfg)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	cfg, _ = load(t, "altq on em0 priq queue a\naltq on em1 priq queue a\nqueue a on ! em1 priq(default)\nqueue a on em1 priq(default) priority 3\n")
	if got := cfg.Altqs[2].Ifname + cfg.Altqs[3].Ifname; got != "em0em1" {
		t.Errorf("queue on ! em1, queue on em1: defined on %s", got)
	}
}

func TestPercentagesAreOfWhatEncloses(t *testing.T) {
	cfg, _ := load(t, "altq on em0 bandwidth 10% hfsc queue { a b }\nqueue a bandwidth 50% hfsc(realtime 10%) { c d }\n"+
		"queue c bandwidth 50% hfsc(default upperlimit 10%)\nqueue d bandwidth 50%\nqueue b bandwidth 50%\n")
	var got []uint64
	for _, a := range cfg.Altqs {
		got = append(got, a.Bandwidth, a.Realtime.M2, a.Linkshare.M2, a.Upperlimit.M2)
	}
	want := []uint64{
		0, 0, 0, 0, 100e6, 0, 100e6, 0, 50e6, 10e6, 50e6, 0,
		25e6, 0, 25e6, 5e6, 25e6, 0, 25e6, 0, 50e6, 0, 50e6, 0,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAbsoluteRatesAreLimitedToWhatEncloses(t *testing.T) {
	cfg, _ := load(t, "altq on em0 bandwidth 20Gb hfsc queue a\nqueue a bandwidth 90Gb hfsc(default)\n")
	if a := cfg.Altqs[2]; a.IfBandwidth != 20e9 || a.Bandwidth != 20e9 {
		t.Errorf("interface %d, queue %d", a.IfBandwidth, a.Bandwidth)
	}
	cfg, msgs := load(t, "altq on ix0 priq queue a\nqueue a priq(default)\n")
	if a := cfg.Altqs[0]; a.IfBandwidth != 1<<32-1 || len(msgs) != 1 ||
		msgs[0] != "pf.conf:1:1: interface ix0 bandwidth limited to 4294967295 bps because selected scheduler is 32-bit limited" {
		t.Errorf("interface %d, said %q", a.IfBandwidth, msgs)
	}
}

func TestChildrenAboveTheirParentAreWarnedOf(t *testing.T) {
	_, msgs := load(t, "altq on em0 cbq bandwidth 10Mb queue { a b }\nqueue a bandwidth 60% cbq(default)\nqueue b bandwidth 50%\n")
	want := []string{`pf.conf:3:1: the sum of the child bandwidth (11000000) higher than parent "root_em0" (10000000)`}
	if d := cmp.Diff(want, msgs); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestVerboseShowsPercentagesAndLists(t *testing.T) {
	got := verbose(t, "ext = em0\naltq on $ext hfsc bandwidth 50% queue { a, b }\nqueue a bandwidth 40% { c }\nqueue c hfsc(default, linkshare (60% 10 20%))\n"+
		"queue b bandwidth 10Mb qlimit 20\npass out on $ext proto tcp to port 22 queue (a, b)\n")
	want := `ext = "em0"
altq on em0 hfsc bandwidth 50% tbrsize 36000 queue { a b }
queue a bandwidth 40% { c }
queue c hfsc( default linkshare(60% 10 20%) ) 
queue b bandwidth 10Mb qlimit 20 
pass out on em0 proto tcp from any to any port = ssh flags S/SA keep state queue(a, b)
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
