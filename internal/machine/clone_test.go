package machine_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/machine"
)

// vlans describes the VLAN interfaces of a machine.
func vlans(t *testing.T, b *box) string {
	t.Helper()
	var list []string
	for _, ifp := range ifnet.List(b.Kernel()) {
		if ifp.Type() != ifnet.TypeVLAN {
			continue
		}
		var on ifnet.VLANReq
		must(t, ifp.Ioctl(ifnet.IoctlGetVLAN, &on))
		state := "down"
		if ifp.Flags()&ifnet.FlagUp != 0 {
			state = "up"
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d %#x of %s %s %v", ifp.Name(), on.VID, on.Proto, on.Parent, state, v4Only(b, ifp.Name()))))
	}
	return strings.Join(list, "; ")
}

func v4Only(b *box, name string) (list []string) {
	for _, p := range b.Addrs(name) {
		if p.Addr().Is4() {
			list = append(list, p.String())
		}
	}
	return list
}

func TestVLANsOfRCConf(t *testing.T) {
	for _, c := range []struct{ text, want, warning string }{
		{"cloned_interfaces=vlan300\nifconfig_vlan300='inet 192.0.2.1/24 vlan 300 vlandev cqnic0'", "vlan300 300 0x8100 of cqnic0 up [192.0.2.1/24]", ""},
		{"cloned_interfaces=vlan300", "vlan300 0 0x0 of  down []", ""},
		{"cloned_interfaces='vlan3 vlan4'\ncreate_args_vlan3='vlan 3 vlandev cqnic0'\ncreate_args_vlan4='vlan 4 vlandev cqnic1 vlanproto 802.1ad'\nifconfig_vlan4=up",
			"vlan3 3 0x8100 of cqnic0 down []; vlan4 4 0x88a8 of cqnic1 up []", ""},
		{"vlans_cqnic0='5 6'\nifconfig_cqnic0_5='inet 192.0.2.1/24'", "cqnic0.5 5 0x8100 of cqnic0 up [192.0.2.1/24]; cqnic0.6 6 0x8100 of cqnic0 down []", ""},
		{"vlans_cqnic0='vlan9 lan'\ncreate_args_vlan9='vlan 9'\ncreate_args_lan='vlan 10'\nifconfig_lan='inet 192.0.2.1/24'",
			"vlan9 9 0x8100 of cqnic0 down []; lan 10 0x8100 of cqnic0 up [192.0.2.1/24]", ""},
		{"vlans_cqnic0='5'\nifconfig_cqnic0_5='-vlandev'", "cqnic0.5 0 0x0 of  up []", ""},
		{"cloned_interfaces='vlan vlan'\ncreate_args_vlan='vlandev cqnic0 vlan 8'\nifconfig_vlan0=up", "vlan0 8 0x8100 of cqnic0 up []",
			"etc/rc.conf:1: cloned_interfaces: ifconfig: interface vlan already exists"},

		{"cloned_interfaces='bridge0'", "", "etc/rc.conf:1: cloned_interfaces: ifconfig: SIOCIFCREATE2 (bridge0): Invalid argument"},
		{"vlans_cqnic0='0 5 lan'", "cqnic0.5 5 0x8100 of cqnic0 down []", "etc/rc.conf:1: vlans_cqnic0: ifconfig: invalid vlan tag\netc/rc.conf:1: vlans_cqnic0: ifconfig: must specify a tag for vlan create"},
		{"cloned_interfaces=vlan3\ncreate_args_vlan3='vlan 3 vlandev ix0'", "", "etc/rc.conf:1: cloned_interfaces: ifconfig: SIOCIFCREATE2 (vlan3): Device not configured"},
		{"ifconfig_cqnic0='vlan 3 vlandev cqnic1'", "", ""}, // no VLAN: nobody says so
		{"vlans_cqnic0=5\nifconfig_cqnic0_5='vlan x vlan 70000 vlanproto q vlandev'", "cqnic0.5 5 0x8100 of cqnic0 up []",
			"etc/rc.conf:2: ifconfig: cqnic0.5: invalid value for vlan\netc/rc.conf:2: ifconfig: cqnic0.5: value for vlan out of range\n" +
				"etc/rc.conf:2: ifconfig: cqnic0.5: invalid value for vlanproto\netc/rc.conf:2: ifconfig: cqnic0.5: 'vlandev' requires argument"},
	} {
		b := started(t, c.text+"\n")
		if got := vlans(t, b); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
		if got := strings.Join(b.Warnings(), "\n"); got != c.warning {
			t.Errorf("%s: %s, want %s", c.text, got, c.warning)
		}
	}
}

func TestAVLANNamesItsParent(t *testing.T) {
	b := boot(t, machine.Config{Files: tree("etc/rc.conf", "cloned_interfaces=vlan2\nifconfig_vlan2='vlan 2 vlandev cqnic3'\ncreate_args_vlan4='vlandev cqnic4'\n")})
	if got := strings.Join(b.Devices(), " "); got != "cqnic3 cqnic4" {
		t.Errorf("devices %s", got)
	}
}

func TestInterfacesAreMadeAndDestroyed(t *testing.T) {
	b := started(t, "ifconfig_cqnic0=up\n")
	ifp, _, err := b.CreateInterface("vlan", []string{"vlan", "7", "vlandev", "cqnic0", "inet", "192.0.2.1/24"})
	must(t, err)
	if got := vlans(t, b); got != "vlan0 7 0x8100 of cqnic0 up [192.0.2.1/24]" {
		t.Error(got)
	}
	if err := b.Detach("cqnic0"); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("detaching a parent: %v", err)
	}
	for name, want := range map[string]string{
		"vlan0": "interface vlan0 already exists", "cqnic0.7": "interface cqnic0.7 already exists", "em9.1": "SIOCIFCREATE2 (em9.1): Invalid argument",
	} {
		if _, _, err := b.CreateInterface(name, nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	must(t, b.DestroyInterface(ifp))
	if err := b.DestroyInterface(b.Ifnet("cqnic0")); err == nil || err.Error() != "SIOCIFDESTROY: Invalid argument" {
		t.Errorf("destroying a NIC: %v", err)
	}
	must(t, b.Detach("cqnic0"))
	must(t, b.Attach("cqnic0"))
	if got := vlans(t, b); got != "" {
		t.Error(got)
	}
}

func TestFramesOfAVLANCrossTheWire(t *testing.T) {
	b := boot(t, machine.Config{Files: tree(
		"boot/device.hints", "hint.em.0.port=\"pair:w\"\nhint.igb.0.port=\"pair:w\"\n",
		"etc/rc.conf", "vlans_em0='5 6'\nifconfig_em0=up\nifconfig_em0_5='inet 192.0.2.1/24'\nifconfig_em0_6=up\nvlans_igb0=5\nifconfig_igb0=up\nifconfig_igb0_5='inet 198.51.100.1/24'\n",
	)})
	b.settle()
	counts := func() string {
		return fmt.Sprint(b.Ifnet("em0.5").GetCounter(ifnet.CounterOPackets), b.Ifnet("igb0.5").GetCounter(ifnet.CounterIPackets),
			b.Ifnet("igb0").GetCounter(ifnet.CounterNoProto))
	}
	if got := counts(); got != "0 0 0" {
		t.Errorf("before: %s", got)
	}
	must(t, b.ifconfig(b.Ifnet("em0.5"), []string{"inet", "192.0.2.2/32", "alias"})) // announced to everybody
	b.settle()
	if got := counts(); got != "1 1 0" {
		t.Errorf("after an announcement on VLAN 5: %s", got)
	}
	for _, c := range []struct{ word, addr, want string }{
		{"vlanhwfilter", "203.0.113.2/32", "1 1 0"}, {"-vlanhwfilter", "203.0.113.3/32", "1 1 1"},
	} {
		must(t, b.ifconfig(b.Ifnet("igb0"), []string{c.word}))
		b.settle()
		must(t, b.ifconfig(b.Ifnet("em0.6"), []string{"inet", c.addr}))
		b.settle()
		if got := counts(); got != c.want {
			t.Errorf("after one on VLAN 6, with %s: %s, want %s", c.word, got, c.want)
		}
	}
}
