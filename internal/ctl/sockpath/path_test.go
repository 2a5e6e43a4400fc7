package sockpath

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheDefaultFollowsTheEnvironment(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct{ sock, runtime, want string }{
		{"/a/b", "/run/user/1", "/a/b"},
		{"", "/run/user/1", "/run/user/1/ifsim.sock"},
		{"", "", filepath.Join(tempDir(), "ctl.sock")},
	} {
		t.Setenv("IFSIM_SOCK", c.sock)
		t.Setenv("XDG_RUNTIME_DIR", c.runtime)
		got, err := Default()
		if got != c.want || err != nil {
			t.Errorf("IFSIM_SOCK=%q XDG_RUNTIME_DIR=%q: %s, %v, want %s", c.sock, c.runtime, got, err, c.want)
		}
	}
}

func TestOnlyTheUsersOwnDirectoryIsMade(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if err := Prepare(filepath.Join(os.TempDir(), "elsewhere", "s")); err != nil {
		t.Error(err)
	}
	if err := Prepare(filepath.Join(tempDir(), "s")); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(os.TempDir())
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(tempDir()) {
		t.Errorf("%v, %v", entries, err)
	}
}
