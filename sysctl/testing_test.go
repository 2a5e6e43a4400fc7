package sysctl_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ifsim/ifsim/sysctl"
)

// machine is an environment, a tree, a list to add to and what was logged.
type machine struct {
	tb  testing.TB
	env *sysctl.Kenv
	t   *sysctl.Tree
	c   *sysctl.Ctx
	hw  *sysctl.OID

	mu  sync.Mutex
	log strings.Builder
}

func newMachine(tb testing.TB, env ...string) *machine {
	m := &machine{tb: tb, env: sysctl.NewKenv()}
	if w := m.env.Merge(env); len(w) != 0 {
		tb.Fatal(w)
	}
	m.t = sysctl.NewTree(m.env, func(format string, a ...any) {
		m.mu.Lock()
		defer m.mu.Unlock()
		fmt.Fprintf(&m.log, format, a...)
	})
	m.c = m.t.NewCtx()
	var err error
	if m.hw, err = m.t.Lookup("hw"); err != nil {
		tb.Fatal(err)
	}
	return m
}

func (m *machine) wantLog(want string) {
	m.tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if got := m.log.String(); got != want {
		m.tb.Errorf("log %q, want %q", got, want)
	}
}

func (m *machine) text(name string) string {
	m.tb.Helper()
	text, err := m.t.Text(name)
	if err != nil {
		m.tb.Error(err)
	}
	return text
}

// names joins the names of a listing.
func names(oids []*sysctl.OID) string {
	var all []string
	for _, o := range oids {
		all = append(all, o.Name())
	}
	return strings.Join(all, " ")
}

// snapshot lists everything below o with its numbers.
func snapshot(o *sysctl.OID) []string {
	var all []string
	for _, c := range o.Children() {
		all = append(all, fmt.Sprint(c.Path(), " ", c.FullName()))
		all = append(all, snapshot(c)...)
	}
	return all
}
