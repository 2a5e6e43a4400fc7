package ifconfig8_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/inet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/ifnet/vlan"
	"github.com/ifsim/ifsim/internal/ctl/ifconfig8"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/physmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ ifconfig8.Machine = (*machine.Machine)(nil)

const memSize = 16 << 20

// box is a machine whose interfaces a test makes by hand.
type box struct {
	t     testing.TB
	k     *kern.Kernel
	words [][]string // given to Ifconfig and CreateInterface
}

func (b *box) Kernel() *kern.Kernel { return b.k }

// Ifconfig renames at "name", refuses "no", warns at "hm", and writes down all.
func (b *box) Ifconfig(ifp *ifnet.Ifnet, words []string) (out machine.IfconfigOutput, err error) {
	b.words = append(b.words, words)
	switch words[0] {
	case "name":
		out.Name = words[1]
		err = ifp.Ioctl(ifnet.IoctlSetName, words[1])
	case "hm":
		out.Warnings = []string{"one", "two"}
	}
	if words[len(words)-1] == "no" {
		err = errors.New("no: bad value")
	}
	return out, err
}

// CreateInterface makes vlan0 of vlan and refuses other names.
func (b *box) CreateInterface(name string, words []string) (*ifnet.Ifnet, machine.IfconfigOutput, error) {
	b.words = append(b.words, append([]string{name}, words...))
	if name != "vlan" {
		return nil, machine.IfconfigOutput{}, fmt.Errorf("SIOCIFCREATE2 (%s): Invalid argument", name)
	}
	ifp, err := vlan.Create(b.k, name)
	if err != nil {
		return nil, machine.IfconfigOutput{}, err
	}
	return ifp, machine.IfconfigOutput{Name: ifp.Name()}, nil
}

func newBox(t testing.TB) *box {
	t.Helper()
	k, err := kern.New(kern.Config{NCPU: 1, Executor: kern.Stepped, Clock: kern.ManualClock, Mem: physmem.Config{Size: memSize}})
	must(t, err)
	t.Cleanup(func() { must(t, k.Close()) })
	_, err = mbuf.Init(k, mbuf.Config{})
	must(t, err)
	must(t, inet.Init(k))
	must(t, vlan.Init(k))
	t.Cleanup(func() { vlan.DestroyAll(k) })
	return &box{t: t, k: k}
}

// nic is what the driver of an interface answers.
type nic struct {
	media  *ifnet.MediaReq // nil: no media
	why    *ifnet.DownReason
	status string
	i2c    map[uint8]*[256]byte // the module's memory, by address
}

var firstMAC = [ifnet.EtherAddrLen]byte{2, 0, 0, 0, 0, 1}

// add attaches an Ethernet interface, which the test detaches.
func (b *box) add(dname string, unit int, n nic) *ifnet.Ifnet {
	ifp := ifnet.Alloc(b.k, ifnet.TypeEther)
	ifp.InitName(dname, unit)
	ifp.SetFlags(ifnet.FlagBroadcast|ifnet.FlagSimplex|ifnet.FlagMulticast, 0)
	ifp.SetMethods(ifnet.Methods{Ioctl: func(cmd ifnet.Ioctl, data any) error { return n.ioctl(ifp, cmd, data) }})
	ifnet.EtherAttach(ifp, firstMAC)
	b.t.Cleanup(func() {
		ifnet.EtherDetach(ifp)
		ifnet.Free(ifp)
	})
	return ifp
}

func (n nic) ioctl(ifp *ifnet.Ifnet, cmd ifnet.Ioctl, data any) error {
	switch req := data.(type) {
	case *ifnet.MediaReq:
		if n.media != nil {
			list := n.media.List
			if req.Count == 0 {
				list = nil
			}
			*req = *n.media
			req.Count, req.List = len(n.media.List), list
			return nil
		}
	case *ifnet.DownReason:
		if n.why != nil {
			*req = *n.why
			return nil
		}
	case *ifnet.I2CReq:
		if mem := n.i2c[req.DevAddr]; mem != nil {
			copy(req.Data[:req.Len], mem[req.Offset:])
			return nil
		}
	case *string:
		if cmd == ifnet.IoctlGetStatus && n.status != "" {
			*req = n.status
			return nil
		}
	}
	return ifnet.EtherIoctl(ifp, cmd, data)
}

// run runs the tool.
func (b *box) run(args ...string) (stdout, stderr string, exit int) {
	var o, e bytes.Buffer
	exit = ifconfig8.Run(b, args, &o, &e)
	return o.String(), e.String(), exit
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
