package machine_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/internal/machine"
)

// TestDevctlStates goes through the states of a device; each step has FreeBSD's errno.
func TestDevctlStates(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("boot/device.hints", "hint.cqnic.0.at=\"pci0:4:0:0\"\n", "etc/rc.conf", "ifconfig_cqnic0=\"up\"\n")})
	b.settle()
	for i, step := range []struct {
		do       func(string) error
		name     string
		want     error
		attached bool
	}{
		{b.Attach, "cqnic9", syscall.ENXIO, true},
		{b.Suspend, "pci0:5:0:0", syscall.ENXIO, true},
		{b.Attach, "cqnic0", syscall.EBUSY, true},
		{b.Enable, "cqnic0", syscall.EBUSY, true},
		{b.Resume, "cqnic0", syscall.EINVAL, true},
		{b.Suspend, "cqnic0", nil, true},
		{b.Suspend, "cqnic0", syscall.EBUSY, true},
		{b.Resume, "pci0:4:0:0", nil, true},
		{b.Detach, "pci0:4:0:0", nil, false},
		{b.Detach, "cqnic0", syscall.ENXIO, false},
		{b.Suspend, "cqnic0", nil, false},
		{b.Resume, "cqnic0", nil, false},
		{b.Disable, "cqnic0", nil, false},
		{b.Disable, "cqnic0", syscall.ENXIO, false},
		{b.Attach, "cqnic0", syscall.ENXIO, false},
		{b.Enable, "cqnic0", nil, true},
		{b.Suspend, "cqnic0", nil, true},
		{b.Disable, "cqnic0", nil, false},
		{b.Resume, "cqnic0", syscall.EINVAL, false},
		{b.Enable, "pci0:4:0:0", nil, true},
	} {
		if err := step.do(step.name); !errors.Is(err, step.want) || (err == nil) != (step.want == nil) {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
		b.settle()
		if attached := b.Ctx("cqnic0") != nil; attached != step.attached {
			t.Errorf("step %d: attached %v", i, attached)
		}
		if ifp := b.Ifnet("cqnic0"); ifp != nil && ifp.Flags()&ifnet.FlagUp == 0 {
			t.Errorf("step %d: the interface is not up, which rc.conf wants", i)
		}
	}
}

func TestEnableForgetsTheHintThatDisabled(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("boot/device.hints", "hint.cqnic.0.disabled=\"1\"\n")})
	if b.Ctx("cqnic0") != nil {
		t.Fatal("a disabled device is attached")
	}
	if err := b.Attach("cqnic0"); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("attaching a disabled device: %v", err)
	}
	must(t, b.Enable("cqnic0"))
	must(t, b.Detach("cqnic0"))
	must(t, b.Attach("cqnic0"))
	if all := strings.Join(b.Kernel().Env.All(), " "); strings.Contains(all, "disabled") {
		t.Errorf("environment %s", all)
	}
}

func TestADeviceThatComesBackHasItsRoutesAndItsNewTunables(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("etc/rc.conf", `ifconfig_cqnic0="inet 192.0.2.1/24"
static_routes="a"
route_a="-net 10.0.0.0/8 192.0.2.9"
static_arp_pairs="n"
static_arp_n="192.0.2.7 02:00:00:00:00:07"
`)})
	before := fmt.Sprint(inet.Routes(b.Kernel()), b.Addrs("cqnic0"), b.Warnings())
	if !strings.Contains(before, "10.0.0.0/8") {
		t.Fatal(before)
	}
	must(t, b.Detach("cqnic0"))
	if left := fmt.Sprint(inet.Routes(b.Kernel())); strings.Contains(left, "10.0.0.0/8") {
		t.Errorf("a route outlives its interface: %s", left)
	}
	must(t, b.Kernel().Env.Set("dev.cqnic.0.iflib.simple_tx", "1"))
	must(t, b.Attach("cqnic0"))
	if after := fmt.Sprint(inet.Routes(b.Kernel()), b.Addrs("cqnic0"), b.Warnings()); after != before {
		t.Errorf("%s\nbefore: %s", after, before)
	}
	if v := b.text("dev.cqnic.0.iflib.simple_tx"); v != "1" {
		t.Errorf("simple_tx %s", v)
	}
}
