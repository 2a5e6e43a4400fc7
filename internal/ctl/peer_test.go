package ctl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestTheSameUserAndRootMayConnect(t *testing.T) {
	for _, c := range []struct {
		uid, self uint32
		want      bool
	}{{0, 0, true}, {0, 1000, true}, {1000, 1000, true}, {1001, 1000, false}, {1000, 0, false}, {65534, 1000, false}} {
		if got := mayConnect(c.uid, c.self); got != c.want {
			t.Errorf("user %d with the machine of %d: %v", c.uid, c.self, got)
		}
	}
}

func TestAClientThatTheKernelDoesNotKnowIsRefused(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	if err := checkPeer(near); !errors.Is(err, syscall.EACCES) {
		t.Errorf("%v", err)
	}
}

// envStranger has the socket that the test binary talks to as another user.
const envStranger = "IFSIM_TEST_STRANGER"

// TestAStrangerIsRefusedWhateverTheModeOfTheSocket connects as nobody to a socket that
// anybody may open.
func TestAStrangerIsRefusedWhateverTheModeOfTheSocket(t *testing.T) {
	if path := os.Getenv(envStranger); path != "" {
		r, err := Do(context.Background(), path, Request{Command: CommandSysctl, Args: []string{"kern.ostype"}})
		fmt.Printf("%s|%s|%v\n", r.Error, r.Stdout, err)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	s := serve(t, "", alone)
	dir, err := os.MkdirTemp("", "ifsim")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Chmod(s.path(), 0o666))
	link := filepath.Join(dir, "s")
	must(t, os.Link(s.path(), link))
	bin := filepath.Join(dir, "test")
	text, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(bin, text, 0o755))

	const nobody = 65534
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), envStranger+"="+link, "GOCOVERDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no other user here:", err)
	}
	if want := "user 65534 may not use the machine of user 0: permission denied||<nil>\n"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
	if r := s.ask(t, Request{Command: CommandSysctl, Args: []string{"-n", "kern.ostype"}}); string(r.Stdout) != "FreeBSD\n" {
		t.Errorf("%+v", r)
	}
}
