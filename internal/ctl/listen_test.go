package ctl

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/internal/ctl/sockpath"
)

func TestTheDirectoryAmongTemporaryFilesIsTheUsersAlone(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("IFSIM_SOCK", "")
	t.Setenv("XDG_RUNTIME_DIR", "")
	path, err := sockpath.Default()
	must(t, err)
	ln, err := Listen(path)
	must(t, err)
	must(t, ln.Close())
	info, err := os.Stat(filepath.Dir(path))
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("directory has mode %v", info.Mode())
	}
	must(t, os.Chmod(filepath.Dir(path), 0o777))
	if _, err := sockpath.Default(); err == nil {
		t.Error("a directory that others may write was taken")
	}
	if _, err := Listen(path); err == nil {
		t.Error("a socket was made in a directory that others may write")
	}
	must(t, os.Remove(filepath.Dir(path)))
	must(t, os.Symlink(t.TempDir(), filepath.Dir(path)))
	if _, err := sockpath.Default(); err == nil {
		t.Error("a symbolic link was taken for the directory")
	}
}

func TestOnlyTheOwnerMayConnect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := Listen(path)
	must(t, err)
	defer ln.Close()
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// stale leaves a socket behind that nobody listens to.
func stale(t *testing.T, path string) {
	t.Helper()
	ln, err := net.Listen("unix", path)
	must(t, err)
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, ln.Close())
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale(t, path)
	ln, err := Listen(path)
	must(t, err)
	must(t, ln.Close())
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket outlives its listener: %v", err)
	}
}

func TestALiveSocketIsNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := Listen(path)
	must(t, err)
	defer ln.Close()
	if _, err := Listen(path); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("second listener: %v", err)
	}
	conn, err := net.Dial("unix", path)
	must(t, err)
	must(t, conn.Close())
}

func TestOfMachinesThatStartAtATimeOneGetsTheSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale(t, path)
	var mu sync.Mutex
	var won []net.Listener
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			ln, err := Listen(path)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, ln)
			} else if !errors.Is(err, syscall.EADDRINUSE) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Errorf("%d listeners", len(won))
	}
	for _, ln := range won {
		must(t, ln.Close())
	}
}

func TestWhatIsNoSocketIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	must(t, os.WriteFile(path, []byte("mine"), 0o600))
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("listening on a file: %v", err)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	if string(text) != "mine" {
		t.Errorf("the file now has %q", text)
	}
}

func TestListenSaysWhatIsWrongWithAPath(t *testing.T) {
	for path, want := range map[string]string{
		strings.Repeat("x", 108): "path of 108 bytes, at most 107",
		"/nonexistent/dir/s":     "no such file or directory",
	} {
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

func TestDoSaysThatNoMachineRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	want := "no machine runs at " + path + "; ifsim boot DIR starts one"
	for _, left := range []bool{false, true} {
		if left {
			stale(t, path)
		}
		if _, err := Do(context.Background(), path, Request{Command: CommandSysctl}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
