package machine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/altq/pf"
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
