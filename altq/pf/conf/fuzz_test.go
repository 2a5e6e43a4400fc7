package conf_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/altq/pf/conf"
)

// FuzzParse reads arbitrary text. What loads must be shown as text that loads to the
// same rules, and messages must say where.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		cbq10, priq10, hfsc10, fair10, "pass in on em0 proto { tcp udp } from 10/8 port 1:2 to any port != ssh flags S/SA tos ef keep state queue (a, b)\n",
		"x = \"a\\\"b\"\npass on $x:network\n", "set limit { states 5 }\ninclude \"pf.conf\"\n", "pass \\\n from <t> { - -1 -> <> >< }", "table <t> {\n\n}", "altq on em0 hfsc(realtime(1Mb 5 1Kb)) queue { a, b",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	const longest = 1 << 10 // as a file may include itself twice
	f.Fuzz(func(t *testing.T, text string, lax bool) {
		if len(text) > longest {
			return
		}
		o := conf.Options{Interface: ifaces, Lax: lax, Open: func(name string) (string, error) {
			if name == "pf.conf" && len(text) < 100 {
				return text, nil
			}
			return "", errors.New("no such file")
		}}
		cfg, msgs, ok := conf.Parse("pf.conf", text, o)
		failed := false
		for _, m := range msgs {
			failed = failed || !m.Warning
			if m.Pos.Line < 1 || m.Pos.Col < 1 || m.Pos.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("message at %v: %s", m.Pos, m.Text)
			}
		}
		if ok == failed {
			t.Fatalf("loads %v, but said %q", ok, msgs)
		}
		shown := rules(cfg)
		if !plain(cfg) {
			return
		}
		again, msgs, ok := conf.Parse("pf.conf", shown, conf.Options{})
		if !ok || rules(again) != shown {
			t.Fatalf("%q is shown as\n%s, which loads %v as\n%s%q", text, shown, ok, rules(again), msgs)
		}
	})
}

// plain reports whether the names in rules need no quotes, which are not shown.
func plain(cfg conf.Config) bool {
	for _, r := range cfg.Rules {
		for _, name := range []string{r.Ifname, r.Qname, r.PQname} {
			for _, c := range name {
				if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
					return false
				}
			}
			if _, _, ok := conf.Parse("", "pass queue "+name+"\n", conf.Options{}); name != "" && !ok {
				return false
			}
		}
		if r.Src.Not && r.Src.Addr.Bits() == 0 || r.Dst.Not && r.Dst.Addr.Bits() == 0 {
			return false
		}
	}
	return true
}
