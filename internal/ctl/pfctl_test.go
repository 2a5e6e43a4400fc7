package ctl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

const pfConf = "altq on em0 priq bandwidth 10Mb queue a\nqueue a priq(default)\n"

func TestPfctlReadsFilesOfTheClient(t *testing.T) {
	s := serve(t, "", wired)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "pf.conf"), []byte(pfConf), 0o600))
	for _, c := range []struct {
		args           []string
		stdout, stderr string
	}{
		{[]string{"-ef", "pf.conf"}, "", "pf enabled\n"},
		{[]string{"-sq"}, "queue a on em0 priq( default ) \n", ""},
	} {
		r := s.ask(t, Request{Command: CommandPfctl, Args: c.args, Dir: dir})
		if string(r.Stdout) != c.stdout || string(r.Stderr) != c.stderr || r.Exit != 0 || r.Error != "" {
			t.Errorf("%q: stdout %q, stderr %q, exit %d, error %q", c.args, r.Stdout, r.Stderr, r.Exit, r.Error)
		}
	}
}

func TestOutputIsShownBeforeTheToolEnds(t *testing.T) {
	s := serve(t, "", wired)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "pf.conf"), []byte(pfConf), 0o600))
	s.ask(t, Request{Command: CommandPfctl, Args: []string{"-ef", "pf.conf"}, Dir: dir})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var parts []string
	_, err := Do(ctx, s.path(), Request{Command: CommandPfctl, Args: []string{"-vvsq"}, Partial: func(r Reply) {
		parts = append(parts, string(r.Stdout))
		cancel()
	}})
	if want := "queue a on em0 priq( default ) \n  [ pkts:          0  bytes:          0  dropped pkts:      0 bytes:      0 ]\n" +
		"  [ qlength:   0/ 50 ]\n\n"; !errors.Is(err, context.Canceled) || len(parts) != 1 || parts[0] != want {
		t.Errorf("%v, shown %q", err, parts)
	}
}
