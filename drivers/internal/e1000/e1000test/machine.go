package e1000test

import (
	"bytes"
	"testing"

	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

// MAC is the address in the NVM of boards.
var MAC = [6]byte{0x02, 0, 0, 0, 0, 0x01}

const memory = 32 << 20

// Machine is a machine with one card. Nothing happens but in calls of the test, and time
// passes as it says.
type Machine struct {
	T       testing.TB
	K       *kern.Kernel
	Ctx     *iflib.Ctx // nil where attach was refused
	Err     error      // of attach
	Console bytes.Buffer
}

// Attach boots a machine with so many CPUs and attaches the card to the driver, as unit 0;
// tunables are kenv entries. It may be refused.
func Attach(t testing.TB, ncpu int, drv *iflib.Driver, card pci.Device, tunables map[string]string) *Machine {
	t.Helper()
	m := &Machine{T: t}
	env := sysctl.NewKenv()
	for name, v := range tunables {
		m.Must(env.Set(name, v))
	}
	k, err := kern.New(kern.Config{NCPU: ncpu, Executor: kern.Stepped, Clock: kern.ManualClock, Env: env, Invariants: true,
		Mem: physmem.Config{Size: memory, Backing: physmem.Heap}, Console: &m.Console})
	m.Must(err)
	m.K = k
	t.Cleanup(func() { m.Must(k.Close()) })
	_, err = mbuf.Init(k, mbuf.Config{})
	m.Must(err)
	for _, init := range []func(*kern.Kernel) error{busdma.Init, ifnet.Init, iflib.Init} {
		m.Must(init(k))
	}
	fn, err := pci.Init(k).Insert(pci.Location{Bus: 2}, card)
	m.Must(err)
	if m.Ctx, m.Err = iflib.Attach(k, drv, fn, 0); m.Err != nil {
		m.Ctx = nil
		return m
	}
	t.Cleanup(func() { m.Must(m.Ctx.Detach()) })
	return m
}

// Must fails the test on an error.
func (m *Machine) Must(err error) {
	m.T.Helper()
	if err != nil {
		m.T.Fatal(err)
	}
}

// Up brings the interface up and returns what init wrote to the board.
func (m *Machine) Up(b *Board) []Write {
	m.T.Helper()
	b.Writes()
	m.Must(m.Ctx.Ifp().Ioctl(ifnet.IoctlSetFlags, m.Ctx.Ifp().Flags()|ifnet.FlagUp))
	w := b.Writes()
	m.K.RunUntilIdle()
	return w
}

// Text reads a sysctl.
func (m *Machine) Text(name string) string {
	m.T.Helper()
	s, err := m.K.Sysctl.Text(name)
	m.Must(err)
	return s
}

// Lines returns what the console printed since the last call.
func (m *Machine) Lines() string {
	s := m.Console.String()
	m.Console.Reset()
	return s
}
