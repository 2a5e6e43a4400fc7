package machine

import (
	"io/fs"
	"path"
	"strings"

	"github.com/ifsim/ifsim/altq/pf"
	"github.com/ifsim/ifsim/altq/pf/conf"
)

// defaultPFRules is pf_rules of rc.conf's defaults.
const defaultPFRules = "/etc/pf.conf"

// startPF runs the rc script pf: with pf_enable it loads the rules and enables the filter,
// which happens too if the rules are wrong. Without a file it does neither.
func (m *Machine) startPF() error {
	if !m.rc.Yes("pf_enable") {
		return nil
	}
	rules := m.pfRules()
	file := m.under(rules)
	text, ok, err := m.files.read(file)
	if err != nil {
		return err
	}
	if !ok {
		m.warnf("%s: pf: %s is not readable", m.rc.Where("pf_enable"), rules)
		return nil
	}
	p, err := pf.Of(m.k)
	if err != nil {
		return err
	}
	m.loadPF(p, file, text)
	return p.Enable()
}

// pfRules is the file of the rules.
func (m *Machine) pfRules() string {
	if rules, ok := m.rc.Get("pf_rules"); ok {
		return rules
	}
	return defaultPFRules
}

// under is a path of the machine as one of its root directory.
func (m *Machine) under(name string) string {
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// loadPF loads the rules, all or none. What is wrong with them is a warning each.
func (m *Machine) loadPF(p *pf.PF, file, text string) {
	cfg, messages, ok := p.Parse(file, text, conf.Options{Lax: m.laxPF(), Open: m.openPF})
	for _, msg := range messages {
		m.warnf("%s", msg)
	}
	if !ok {
		m.warnf("%s: Syntax error in config file: pf rules not loaded", file)
		return
	}
	if err := p.Load(cfg); err != nil {
		m.warnf("%s: pfctl: %v", file, err)
	}
}

// laxPF reports whether pf_flags has -o lax; other flags have no effect.
func (m *Machine) laxPF() (lax bool) {
	value, _ := m.rc.Get("pf_flags")
	words := m.rc.shWords(value)
	for i := 0; i < len(words); i++ {
		if words[i] == "-o" && i+1 < len(words) && words[i+1] == "lax" {
			lax = true
			i++
			continue
		}
		m.warnf("%s: pf_flags: %s: not available", m.rc.Where("pf_flags"), words[i])
	}
	return lax
}

// openPF opens a file that rules include.
func (m *Machine) openPF(name string) (string, error) {
	text, ok, err := m.files.read(m.under(name))
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return text, err
}
