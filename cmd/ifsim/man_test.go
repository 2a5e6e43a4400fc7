package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// manDir has the pages that `go generate` writes.
var manDir = filepath.Join("..", "..", "docs", "man")

// pages are the files in a directory by name.
func pages(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	texts := make(map[string]string)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		check(t, err)
		texts[e.Name()] = string(text)
	}
	return texts
}

func TestPagesAreThoseOfTheCommands(t *testing.T) {
	fresh := t.TempDir()
	root := rootCommand()
	root.SetArgs([]string{"man", fresh})
	check(t, root.Execute())
	want, got := pages(t, fresh), pages(t, manDir)
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/man/%s is of no command; remove it", name)
		}
	}
	for name, text := range want {
		if d := cmp.Diff(text, got[name]); d != "" {
			t.Errorf("docs/man/%s is stale, run go generate ./cmd/ifsim:\n%s", name, d)
		}
	}
}

// Every command that users see says what it does, with which status it ends, and shows
// how it is used.
func TestCommandsHaveWholePages(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() && cmd.Runnable() && (cmd.Long == "" || cmd.Example == "") {
			t.Errorf("%s: no Long or no Example", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(rootCommand())
}

func TestPagesForMan(t *testing.T) {
	dir := t.TempDir()
	root := rootCommand()
	root.SetArgs([]string{"man", "--format", "man", dir})
	check(t, root.Execute())
	if _, err := os.Stat(filepath.Join(dir, "ifsim-sysctl.8")); err != nil {
		t.Error(err)
	}
}
