package tcpdump8_test

import (
	"strings"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8"
)

const usage = "Usage: tcpdump [-AdDeKlLnNOpqStuUvxX#] [ -B size ] [ -c count ] [ -F file ]\n" +
	"\t\t[ -i interface ] [ -Q in|out|inout ] [ -r file ] [ -s snaplen ]\n" +
	"\t\t[ -w file ] [ -y datalinktype ] [ expression ]\n"

func TestWhatTcpdumpRefuses(t *testing.T) {
	b := newBench(t)
	b.Files["long"] = strings.Repeat(" ", 1<<16+1)
	for line, want := range map[string]string{
		"-i em9":                "tcpdump: em9: No such device exists\n(BIOCSETIF failed: Device not configured)\n",
		"-i any":                "tcpdump: any: No such device exists\n(BIOCSETIF failed: Device not configured)\n",
		"-i 0":                  "tcpdump: Invalid adapter index 0\n",
		"-i 2":                  "tcpdump: Invalid adapter index 2: only 1 interface found\n",
		"-i em0 (":              "tcpdump: can't parse filter expression: syntax error\n",
		"-i em0 host nowhere":   "tcpdump: unknown host 'nowhere'\n",
		"-d -i em0 mpls":        "tcpdump: 'mpls' is not supported\n",
		"-F long":               "tcpdump: long is too large\n",
		"-c 0":                  "tcpdump: invalid packet count 0 (must be >= 1 and <= 2147483647)\n",
		"-c x":                  "tcpdump: invalid packet count x\n",
		"-s 262145":             "tcpdump: invalid snaplen 262145 (must be >= 0 and <= 262144)\n",
		"-B 0":                  "tcpdump: invalid packet buffer size 0 (must be >= 1 and <= 2097151)\n",
		"-Q up":                 "tcpdump: unknown capture direction `up'\n",
		"-y DOCSIS":             "tcpdump: invalid data link type DOCSIS\n",
		"-tttttt":               "tcpdump: only -t, -tt, -ttt, -tttt, and -ttttt are supported\n",
		"-Z":                    "tcpdump: illegal option -- Z\n" + usage,
		"-i":                    "tcpdump: option requires an argument -- i\n" + usage,
		"-r f":                  "tcpdump: -r f: files are read by the client, not by the machine\n",
		"-w f":                  "tcpdump: -w f: files are written by the client, the machine writes to -w -\n",
		"-i em0 tcp[0:3] = 1":   "tcpdump: data size must be 1, 2, or 4\n",
		"-i em0 port 80 or :::": "tcpdump: unknown port ':::'\n",
	} {
		if stdout, stderr, exit := b.run(line); stdout != "" || stderr != want || exit != 1 {
			t.Errorf("%s: %q %q %d, want %q", line, stdout, stderr, exit, want)
		}
	}
	if b.nic.TapOn() {
		t.Error("somebody listens")
	}
}

func TestProgramsTypesAndDevices(t *testing.T) {
	b := newBench(t)
	b.Files["filter"] = "arp # and more\n and ether[0] & 1 = 0"
	idle := b.NIC("em", 1)
	idle.SetFlags(0, ifnet.FlagUp)
	b.nic.LinkStateChange(ifnet.LinkStateUp)
	idle.LinkStateChange(ifnet.LinkStateDown)
	for line, want := range map[string]string{
		"-d -i em0 arp":  "(000) ldh      [12]\n(001) jeq      #0x806           jt 2\tjf 3\n(002) ret      #262144\n(003) ret      #0\n",
		"-ddd -s 96 arp": "4\n40 0 0 12\n21 0 1 2054\n6 0 0 96\n6 0 0 0\n",
		"-ddd -F filter": "7\n40 0 0 12\n21 0 4 2054\n48 0 0 0\n84 0 0 1\n21 0 1 0\n6 0 0 262144\n6 0 0 0\n",
		"-d":             "(000) ret      #262144\n",
		"-L -i em0":      "Data link types for em0 (use option -y to set):\n  EN10MB (Ethernet)\n",
		"-L -i 2":        "Data link types for em1 (use option -y to set):\n  EN10MB (Ethernet)\n",
		"-D":             "1.em0 [Up, Running, Connected]\n2.em1 [none, Disconnected]\n",
	} {
		if stdout, stderr, exit := b.run(line); stdout != want || stderr != "" || exit != 0 {
			t.Errorf("%s: %q %q %d, want %q", line, stdout, stderr, exit, want)
		}
	}
}

func TestTheFirstInterfaceIsTheDefault(t *testing.T) {
	b := newBench(t)
	if _, stderr, exit := b.run("-c 1", b.in(udp(t, 1, 2, 3))); !strings.Contains(stderr, "listening on em0,") || exit != 0 {
		t.Errorf("%q %d", stderr, exit)
	}
	ifnet.EtherDetach(b.nic.Ifnet)
	b.Want(tcpdump8.Run, "-c 1", "", "tcpdump: no interfaces available for capture\n", 1)
}
