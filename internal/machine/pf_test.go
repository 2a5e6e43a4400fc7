package machine_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/internal/machine"
)

const (
	pfOn     = "ifconfig_cqnic0=\"inet 192.0.2.1/24\"\npf_enable=\"YES\"\n"
	pfShapes = "altq on cqnic0 priq bandwidth 10Mb queue { a b }\nqueue a priq(default)\nqueue b priority 7\npass out on cqnic0 from cqnic0 queue b\n"
)

func TestPFIsLoadedAtBoot(t *testing.T) {
	for _, c := range []struct {
		name     string
		files    []string
		warnings []string
		enabled  bool
		queues   int
		rules    []string
	}{
		{
			name: "without pf_enable", files: []string{"etc/rc.conf", "", "etc/pf.conf", pfShapes},
		},
		{
			name: "rules", files: []string{"etc/rc.conf", pfOn, "etc/pf.conf", pfShapes}, enabled: true, queues: 3,
			rules: []string{"pass out on cqnic0 inet from 192.0.2.1 to any flags S/SA keep state queue b"},
		},
		{
			name:  "elsewhere, with an include",
			files: []string{"etc/rc.conf", pfOn + "pf_rules=\"/usr/local/etc/../etc/my.conf\"\n", "usr/local/etc/my.conf", "include \"/etc/more\"\n", "etc/more", "pass\n"},
			rules: []string{"pass all flags S/SA keep state"}, enabled: true,
		},
		{
			name: "missing", files: []string{"etc/rc.conf", pfOn},
			warnings: []string{"etc/rc.conf:2: pf: /etc/pf.conf is not readable"},
		},
		{
			name: "wrong", files: []string{"etc/rc.conf", pfOn + "pf_flags=\"-q\"\n", "etc/pf.conf", "pass\nblock log\nbogus x\n"}, enabled: true,
			warnings: []string{
				"etc/rc.conf:3: pf_flags: -q: not available",
				`etc/pf.conf:2:7: log: not in the subset of pf.conf(5) that is known here: "block log"`,
				"etc/pf.conf:3:7: syntax error",
				"etc/pf.conf: Syntax error in config file: pf rules not loaded",
			},
		},
		{
			name: "lax", files: []string{"etc/rc.conf", pfOn + "pf_flags=\"-o lax\"\n", "etc/pf.conf", "pass\nblock log\n"}, enabled: true,
			warnings: []string{`etc/pf.conf:2:7: log: not in the subset of pf.conf(5) that is known here, left out: "block log"`},
			rules:    []string{"pass all flags S/SA keep state"},
		},
		{
			name: "refused", files: []string{"etc/rc.conf", pfOn, "etc/pf.conf", "altq on cqnic0 codel bandwidth 1Mb queue a\nqueue a\n"}, enabled: true,
			warnings: []string{"etc/pf.conf: pfctl: DIOCADDALTQ: a on cqnic0: Device not configured"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := boot(t, machine.Config{Files: tree(append(c.files, "boot/device.hints", "hint.cqnic.0.port=null\n")...)})
			p, err := pf.Of(b.Kernel())
			must(t, err)
			queues, _ := p.Queues()
			var rules []string
			for _, r := range p.Rules() {
				rules = append(rules, r.Rule.String())
			}
			if p.Enabled() != c.enabled || len(queues) != c.queues || b.Ifnet("cqnic0").SndEnabled() != (c.queues > 0) {
				t.Errorf("enabled %v, %d queues, shaping %v", p.Enabled(), len(queues), b.Ifnet("cqnic0").SndEnabled())
			}
			if d := cmp.Diff(c.rules, rules); d != "" {
				t.Errorf("rules (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.warnings, b.Warnings()); d != "" {
				t.Errorf("warnings (-want +got):\n%s", d)
			}
		})
	}
}

// sum16 is the checksum of the internet protocols.
func sum16(b []byte) uint16 {
	var s uint32
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}

// echoRequest is a frame with an ICMP echo of 56 bytes.
func echoRequest(dst, src [6]byte, to, from string) []byte {
	const payload = 56
	b := make([]byte, 14+20+8+payload)
	copy(b, dst[:])
	copy(b[6:], src[:])
	b[12] = 8
	ip := b[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, 1
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	copy(ip[12:], netip.MustParseAddr(from).AsSlice())
	copy(ip[16:], netip.MustParseAddr(to).AsSlice())
	binary.BigEndian.PutUint16(ip[10:], sum16(ip[:20]))
	icmp := ip[20:]
	icmp[0], icmp[5] = 8, 77
	binary.BigEndian.PutUint16(icmp[2:], sum16(icmp))
	return b
}

func TestAnswerLeavesThroughTheQueueOfItsState(t *testing.T) {
	fabric, work := port.NewFabric(pair.Kind()), hw.NewWorkList()
	var ms [2]*box
	for i := range ms {
		ms[i] = boot(t, machine.Config{Fabric: fabric, Work: work, Files: tree(
			"boot/device.hints", "hint.cqnic.0.port=\"pair:wire0\"\n",
			"etc/rc.conf", fmt.Sprintf("hostname=m%d\nifconfig_cqnic0=\"inet 192.0.2.%d/24\"\npf_enable=YES\n", i, i+1),
			"etc/pf.conf", "altq on cqnic0 priq bandwidth 10Mb queue { a b }\nqueue a priq(default)\nqueue b priority 7\nblock\npass in on cqnic0 proto icmp queue b\n",
		)})
	}
	settleAll := func() {
		for range 4 {
			for _, m := range ms {
				m.settle()
			}
		}
	}
	settleAll()
	transmit(t, ms[0].Machine, "cqnic0", echoRequest(ms[1].Ifnet("cqnic0").MAC(), ms[0].Ifnet("cqnic0").MAC(), "192.0.2.2", "192.0.2.1"))
	settleAll()
	p, err := pf.Of(ms[1].Kernel())
	must(t, err)
	queues, _ := p.Queues()
	const echoLen = 14 + 20 + 8 + 56
	if got, want := queues[2].Stats.Xmit, (altq.Counter{Packets: 1, Bytes: echoLen}); got != want {
		t.Errorf("queue %s has sent %+v, want %+v", queues[2].Qname, got, want)
	}
	if r := p.Rules()[1]; r.Packets != 2 || r.States != 1 {
		t.Errorf("the rule has %d packets, %d states", r.Packets, r.States)
	}
}

func TestDeviceThatComesBackShapesAgain(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("boot/device.hints", "hint.cqnic.0.port=null\n", "etc/rc.conf", pfOn, "etc/pf.conf", pfShapes)})
	p, err := pf.Of(b.Kernel())
	must(t, err)
	removed := func() bool {
		queues, _ := p.Queues()
		return queues[0].Removed
	}
	if removed() {
		t.Error("removed before detach")
	}
	must(t, b.Detach("cqnic0"))
	if !removed() {
		t.Error("not removed")
	}
	must(t, b.Attach("cqnic0"))
	if removed() || !b.Ifnet("cqnic0").SndEnabled() {
		t.Errorf("removed %v, shaping %v", removed(), b.Ifnet("cqnic0").SndEnabled())
	}
}
