package pfctl8_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const hfscConf = `ext = em0
altq on $ext hfsc bandwidth 10Mb queue { web, voip }
queue web bandwidth 60% { bulk }
queue bulk qlimit 10 hfsc(default)
queue voip bandwidth 20% priority 6 hfsc(realtime 1Mb)
pass out on $ext proto udp to port 5060 queue voip
`

func TestEnableAndDisable(t *testing.T) {
	b := newBox(t)
	b.want("", "pf enabled\n", 0, "-e")
	b.want("", "pfctl: pf already enabled\n", 1, "-e")
	b.want("Enabled\n", "", 0, "-s", "Running")
	b.want("", "", 0, "-dq")
	b.want("", "pfctl: pf not enabled\n", 1, "-d")
	b.want("Status: Disabled\n\nState Table\n  current entries                        0\nCounters\n"+
		"  short                                  0\n  memory                                 0\n", "", 0, "-si")
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	b := newBox(t)
	const usage = "usage: pfctl [-degnqv] [-D macro=value] [-f file] [-F modifier] [-i interface]\n             [-o lax | json] [-s modifier]\n"
	b.want("", usage, 1)
	b.want("", usage, 1, "-e", "-d")
	b.want("", usage, 1, "-e", "more")
	b.want("", "pfctl: illegal option -- x\n"+usage, 1, "-x")
	b.want("", "pfctl: option requires an argument -- f\n"+usage, 1, "-f")
	b.want("", "pfctl: Unknown show modifier 'everything'\n"+usage, 1, "-s", "everything")
	b.want("", "pfctl: Unknown flush modifier 'x'\n"+usage, 1, "-Fx")
	b.want("", "pfctl: Unknown optimization 'best'\n"+usage, 1, "-o", "best")
	b.want("", "pfctl: could not parse macro definition x\n", 1, "-D", "x")
	b.want("", "pfctl: -s nat: not available\n", 1, "-s", "nat")
	b.want("", "pfctl: -F osfp: not available\n", 1, "-F", "osfp")
}

func TestFilesAreLoadedOrTried(t *testing.T) {
	b := newBox(t)
	b.files["pf.conf"] = hfscConf
	b.files["bad.conf"] = "pass\nqueue lost\npass on wire fast\n"
	b.files["busy.conf"] = "altq on em0 cbq bandwidth 10Mb queue a\nqueue a cbq(default)\n"
	b.files["foreign.conf"] = "pass log\nblock\n"
	b.want("", "pfctl: pf.cnf: No such file or directory\npfctl: cannot open the main config file!\n", 1, "-f", "pf.cnf")
	b.want("", "", 0, "-nf", "pf.conf")
	b.want("No queue in use\n", "", 0, "-s", "queue")
	b.want(`ext = "em0"
altq on em0 hfsc bandwidth 10Mb tbrsize 6000 queue { web voip }
queue web bandwidth 60% { bulk }
queue bulk qlimit 10 hfsc( default ) 
queue voip bandwidth 20% priority 6 hfsc( realtime 1Mb ) 
pass out on em0 proto udp from any to any port = sip keep state queue voip
`, "", 0, "-nvf", "pf.conf")
	b.want("", "", 0, "-f", "pf.conf")
	const said = "bad.conf:2:1: Rules must be in order: options, ethernet, normalization, queueing, translation, filtering\n" +
		"bad.conf:3:14: syntax error\n"
	b.want("", said+"pfctl: Syntax error in config file: pf rules not loaded\n", 1, "-f", "bad.conf")
	b.want("", said, 1, "-nf", "bad.conf")
	const foreign = "foreign.conf:1:6: log: not in the subset of pf.conf(5) that is known here"
	b.want("", foreign+": \"pass log\"\npfctl: Syntax error in config file: pf rules not loaded\n", 1, "-f", "foreign.conf")
	const rule = "pass out on em0 proto udp from any to any port = sip keep state queue voip\n"
	b.want(rule, "", 0, "-s", "rules")
	b.want("@0 "+rule+"  [ Evaluations: 0         Packets: 0         Bytes: 0           States: 0     ]\n", "", 0, "-vvsr")
	b.want("", foreign+", left out: \"pass log\"\n", 0, "-o", "lax", "-f", "foreign.conf")
	b.want("", "", 0, "-o", "lax", "-qf", "foreign.conf")
	b.want("block drop all\n", "", 0, "-s", "rules")
	b.want("", "rules cleared\naltq cleared\n0 states cleared\n", 0, "-Fall")
	b.want("", "", 0, "-s", "rules")
	b.want("", "altq cleared\n", 0, "-F", "queue")
}

func TestQueuesAreShownWithTheirStatistics(t *testing.T) {
	b := newBox(t)
	b.files["pf.conf"] = hfscConf
	b.want("", "pf enabled\n", 0, "-ef", "pf.conf")
	b.send(4, 150, 3)
	b.want(`queue root_em0 on em0 bandwidth 10Mb priority 0 {web, voip}
  [ pkts:          0  bytes:          0  dropped pkts:      0 bytes:      0 ]
  [ qlength:   0/ 50 ]
queue  web on em0 bandwidth 6Mb {bulk}
  [ pkts:          0  bytes:          0  dropped pkts:      0 bytes:      0 ]
  [ qlength:   0/ 50 ]
queue   bulk on em0 bandwidth 6Mb qlimit 10 hfsc( default ) 
  [ pkts:          0  bytes:          0  dropped pkts:      0 bytes:      0 ]
  [ qlength:   0/ 10 ]
queue  voip on em0 bandwidth 2Mb priority 6 hfsc( realtime 1Mb ) 
  [ pkts:          3  bytes:        450  dropped pkts:      0 bytes:      0 ]
  [ qlength:   0/ 50 ]
`, "", 0, "-v", "-s", "queue")
	b.want("", "", 0, "-i", "em1", "-s", "queue")
	b.files["pf.conf"] = "altq on em0 priq bandwidth 1Mb queue a\nqueue a priq(default)\n"
	b.want("", "", 0, "-f", "pf.conf")
	b.want("queue a on em0 priq( default ) \n  [ qid=5 ifname=em0 ifbandwidth=1Mb ]\n", "", 0, "-i", "em0", "-gs", "queue")
}

func TestCodelShowsItsInterface(t *testing.T) {
	b := newBox(t)
	b.files["pf.conf"] = "altq on em0 codel bandwidth 5Mb queue\n"
	b.want("", "pf enabled\n", 0, "-ef", "pf.conf")
	b.send(0, 1000, 2)
	b.want(`altq on em0 codel( target 5 interval 100 ) bandwidth 5Mb tbrsize 6000 
  [ pkts:          2  bytes:       2000  dropped pkts:      0 bytes:      0 ]
  [ qlength:   0/ 50 ]
`, "", 0, "-vs", "queue")
}

func TestRatesAreMeasuredBetweenListings(t *testing.T) {
	b := newBox(t)
	b.files["pf.conf"] = "altq on em0 priq bandwidth 1Gb queue a\nqueue a priq(default)\n"
	b.want("", "pf enabled\n", 0, "-ef", "pf.conf")
	pauses := 0
	b.wait = func(_ context.Context, d time.Duration) error {
		if d != 5*time.Second {
			t.Errorf("waits for %v", d)
		}
		pauses++
		switch pauses {
		case 1:
			b.send(1, 1000, 10)
		case 2:
			b.send(1, 1000, 20)
		case 3:
			return errStop
		}
		return nil
	}
	rest, _, exit := b.run("-vvs", "queue")
	if exit != 0 || rest != "" {
		t.Errorf("exit %d, rest %q", exit, rest)
	}
	block := func(pkts, measured string) string {
		return "queue a on em0 priq( default ) \n  [ pkts: " + pkts + "  dropped pkts:      0 bytes:      0 ]\n  [ qlength:   0/ 50 ]\n" + measured + "\n"
	}
	want := []string{
		block("         0  bytes:          0", ""),
		block("        10  bytes:      10000", "  [ measured:     2.0 packets/s, 16Kb/s ]\n"),
		block("        30  bytes:      30000", "  [ measured:     3.0 packets/s, 24Kb/s ]\n"),
	}
	if d := cmp.Diff(want, b.parts); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestOtherQueuesBeginAnotherListing(t *testing.T) {
	b := newBox(t)
	b.files["pf.conf"] = "altq on em0 priq bandwidth 1Gb queue a\nqueue a priq(default)\n"
	b.want("", "", 0, "-f", "pf.conf")
	pauses := 0
	b.wait = func(context.Context, time.Duration) error {
		if pauses++; pauses == 2 {
			return errStop
		}
		b.files["pf.conf"] += "pass\n"
		b.want("", "", 0, "-f", "pf.conf")
		return nil
	}
	b.run("-vvs", "queue")
	if len(b.parts) != 2 || b.parts[0] != b.parts[1] || strings.Contains(b.parts[1], "measured") {
		t.Errorf("shown %q", b.parts)
	}
}

func TestJSON(t *testing.T) {
	b := newBox(t)
	b.files["pf.conf"] = "altq on em0 priq bandwidth 1Mb queue a\nqueue a priq(default)\npass queue a\n"
	b.want("[]\n", "", 0, "-o", "json", "-s", "queue")
	b.want("", "pf enabled\n", 0, "-ef", "pf.conf")
	b.want(`[
  {
    "interface": "em0",
    "queue": "a",
    "scheduler": "priq",
    "ifbandwidth": 1000000,
    "priority": 1,
    "qlimit": 50,
    "qid": 1,
    "stats": {
      "qid": 1,
      "qlength": 0,
      "qlimit": 50,
      "qtype": 3,
      "xmit": {
        "packets": 0,
        "bytes": 0
      },
      "drop": {
        "packets": 0,
        "bytes": 0
      },
      "period": 0
    }
  }
]
`, "", 0, "-o", "json,pretty", "-s", "queue")
	b.want(`[
  {
    "number": 0,
    "rule": "pass all flags S/SA keep state queue a",
    "queue": "a",
    "evaluations": 0,
    "packets": 0,
    "bytes": 0,
    "states": 0
  }
]
`, "", 0, "--libxo", "json,pretty", "-s", "rules")
	b.want("{\"status\":\"Enabled\",\"states\":0,\"short\":0,\"memory\":0}\n", "", 0, "-o", "json", "-s", "info")
}
