package machine

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// maxRCValue bounds a value in bytes: a file can double one in every line.
const maxRCValue = 64 << 10

// RCConf holds the variables of rc.conf(5): the assignments of a file for sh(1),
// which is read, not run. Assignments may be several to a line, in any quoting, over
// several lines, refer to earlier variables ($name, ${name}, ${name:-default}), and
// append (name+="more", as sysrc writes it). Not changed once read. It remembers which
// variables somebody asked for. Any goroutine.
type RCConf struct {
	vars  map[string]rcVar
	names []string // in order of first assignment

	mu    sync.Mutex
	asked map[string]bool // guarded by mu
}

type rcVar struct {
	value string
	where string // "etc/rc.conf:3", of the last assignment
}

// NewRCConf returns an empty set of variables.
func NewRCConf() *RCConf { return &RCConf{vars: make(map[string]rcVar), asked: make(map[string]bool)} }

// Read adds the assignments of one file; a later one of a name counts. name is used
// in messages. Whatever is not an assignment is a warning, with file and line, and
// passed over. The error is the reader's.
func (c *RCConf) Read(name string, r io.Reader) (warnings []string, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	p := &shParser{file: name, text: string(text), line: 1, get: c.Get}
	p.assign = func(name, value string, more bool, where string) { c.set(name, value, more, where) }
	p.script()
	return p.warnings, nil
}

func (c *RCConf) set(name, value string, more bool, where string) {
	old, ok := c.vars[name]
	if !ok {
		c.names = append(c.names, name)
	}
	if more {
		value = old.value + value
	}
	c.vars[name] = rcVar{value[:min(len(value), maxRCValue)], where}
}

// Get returns the value of a variable and whether it is set.
func (c *RCConf) Get(name string) (string, bool) {
	if _, ok := c.vars[name]; ok {
		c.mu.Lock()
		c.asked[name] = true
		c.mu.Unlock()
	}
	return c.peek(name)
}

// peek is Get for somebody who only looks.
func (c *RCConf) peek(name string) (string, bool) {
	v, ok := c.vars[name]
	return v.value, ok
}

// Unused are the variables that nobody has asked for, in the order of Names.
func (c *RCConf) Unused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(c.Names(), func(name string) bool { return c.asked[name] })
}

// Names are the variables in the order in which they first appear.
func (c *RCConf) Names() []string { return append([]string(nil), c.names...) }

// Where is file and line of a variable's last assignment, as "etc/rc.conf:3".
func (c *RCConf) Where(name string) string { return c.vars[name].where }

// Yes reports whether a variable is set to YES, TRUE, ON or 1 in any case
// (checkyesno of rc.subr).
func (c *RCConf) Yes(name string) bool {
	switch v, _ := c.Get(name); strings.ToLower(v) {
	case "yes", "true", "on", "1":
		return true
	}
	return false
}

// shWords splits a value as eval does with it: into words, quotes removed. What
// cannot be read is left out.
func (c *RCConf) shWords(text string) []string {
	p := &shParser{text: text, line: 1, get: c.Get}
	var words []string
	for p.blanks(); !p.end(); p.blanks() {
		if isOperator(p.peek()) {
			p.next()
			continue
		}
		if w, ok := p.word(); ok {
			words = append(words, w)
		}
	}
	return words
}
