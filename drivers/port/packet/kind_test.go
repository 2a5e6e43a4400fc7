package packet_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/packet"
	"github.com/ifsim/ifsim/internal/nstest"
)

func TestBadSpecificationsAreRefused(t *testing.T) {
	for _, spec := range []string{
		"packet", "packet:", "packet:.", "packet:..", "packet:a/b", "packet:a b", "packet:a:b", "packet:sixteen-bytes-abc",
		"packet:eth0,", "packet:eth0,ns", "packet:eth0,ns=", "packet:eth0,ns=..", "packet:eth0,ns=a\x00b", "packet:eth0,rx=mmsg",
	} {
		if _, err := fabric().Open(spec); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v, want EINVAL", spec, err)
		}
	}
}

func TestErrorsSayWhatIsMissing(t *testing.T) {
	needNamespaces(t)
	files := openFiles(t)
	_, err := fabric().Open("packet:eth9")
	wantText(t, err, "packet:eth9: no such interface")
	if !errors.Is(err, syscall.ENXIO) {
		t.Errorf("%v is not ENXIO", err)
	}
	_, err = fabric().Open("packet:eth9,ns=nowhere")
	wantText(t, err, "no namespace /run/netns/nowhere")
	_, err = fabric().Open("packet:eth9,ns=/proc/self/status")
	wantText(t, err, "/proc/self/status is not a network namespace")
	_, err = fabric().Open("packet:eth9,ns=/proc/self/ns/uts")
	wantText(t, err, "/proc/self/ns/uts is not a network namespace")
	if n := openFiles(t); n != files {
		t.Errorf("%d files open, %d before", n, files)
	}
}

// dropCapability takes a capability from the calling thread.
func dropCapability(capability int) error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return err
	}
	data[capability/32].Effective &^= 1 << (capability % 32)
	return unix.Capset(&hdr, &data[0])
}

func TestMissingCapabilityIsNamed(t *testing.T) {
	needNamespaces(t)
	errs := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends, and what it dropped with it
		if err := dropCapability(unix.CAP_NET_RAW); err != nil {
			errs <- err
			return
		}
		_, err := fabric().Open("packet:lo")
		errs <- err
	}()
	err := <-errs
	wantText(t, err, "packet:lo: needs CAP_NET_RAW: ")
	if !errors.Is(err, unix.EPERM) {
		t.Errorf("%v is not EPERM", err)
	}
}

func TestPortOpensInAnotherNamespaceByPathAndByName(t *testing.T) {
	needNamespaces(t)
	ns := nstest.New(t)
	w := plainCable(t, ns)
	w.up(t)
	const mount = "/run/netns/lab"
	check(t, os.WriteFile(mount, nil, 0o444))
	check(t, unix.Mount(ns.Path(), mount, "", unix.MS_BIND, ""))
	defer func() { _ = unix.Unmount(mount, unix.MNT_DETACH) }()
	a, ca := openPort(t, w.a)
	for _, name := range []string{ns.Path(), "lab"} {
		b, cb := openPort(t, w.b+",ns="+name)
		if want := "packet:" + w.b + ",ns=" + name; b.Name() != want {
			t.Errorf("name %q, want %q", b.Name(), want)
		}
		traffic(t, a, b, ca, cb)
		setUp(t, ns, w.b, false) // its link messages are that namespace's
		wantEvents(t, cb, true, false)
		setUp(t, ns, w.b, true)
		wantEvents(t, cb, true, false, true)
		eventually(t, "carrier", func() bool { return a.Link().Up })
		check(t, b.Close())
	}
	if _, err := fabric().Open("packet:" + w.b); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("%s in this namespace: %v, want ENXIO", w.b, err)
	}
}

func FuzzOpen(f *testing.F) {
	for _, s := range []string{"", "lo", "eth9", "lo,ns=", "lo,ns=lab", "lo,ns=/proc/self/ns/net", "lo,ns=a,ns=b", "a,b=c", "0123456789abcdef", "\x00", "lo,ns=/"} {
		f.Add(s)
	}
	kind := packet.Kind()
	f.Fuzz(func(t *testing.T, arg string) {
		p, err := kind.Open(arg)
		if err != nil {
			if prefix := "packet:" + arg + ": "; p != port.Port(nil) || !strings.HasPrefix(err.Error(), prefix) {
				t.Errorf("port %v, error %v", p, err)
			}
			return
		}
		if got := p.Name(); got != "packet:"+arg {
			t.Errorf("name %q of %q", got, arg)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}
