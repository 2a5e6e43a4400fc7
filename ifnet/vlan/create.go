package vlan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
)

// driverName is the name that interfaces have with their unit, and their group's.
const driverName = "vlan"

// maxUnit bounds units of interfaces (if_maxunit of the cloner).
const maxUnit = 32767

// state is what a machine has one of.
type state struct {
	k      *kern.Kernel
	knobs  knobs
	cloner kern.Sx  // one Create at a time
	mu     kern.Mtx // guards what follows; a leaf

	vlans  []*vlan // oldest first
	trunks map[*ifnet.Ifnet]*trunk
}

// Init puts VLANs into the machine. A second call does nothing.
func Init(k *kern.Kernel) error {
	if _, ok := kern.Lookup[*state](k); ok {
		return nil
	}
	if err := ifnet.Init(k); err != nil {
		return fmt.Errorf("starting vlan: %w", err)
	}
	s := &state{k: k, trunks: make(map[*ifnet.Ifnet]*trunk)}
	s.cloner.Init(k, "vlan cloner")
	s.mu.Init(k, "vlan")
	if err := s.knobs.register(k); err != nil {
		return err
	}
	kern.Attach(k, s)
	k.OnClose(ifnet.OnEvent(k, s.event))
	return nil
}

// stateOf is the machine's state. ENXIO: Init has not run.
func stateOf(k *kern.Kernel) (*state, error) {
	s, ok := kern.Lookup[*state](k)
	if !ok {
		return nil, fmt.Errorf("vlan is not there: %w", syscall.ENXIO)
	}
	return s, nil
}

// Create makes an interface: vlan5 by its name, vlan with the next free unit, em0.100 on
// its parent (vlan_clone_create). The others have no parent until IoctlSetVLAN gives them
// one. It is in the group vlan. EEXIST: the name is taken; EINVAL: no name of these forms, or no such parent;
// ENXIO: a unit above 32767; else as IoctlSetVLAN. It may sleep.
func Create(k *kern.Kernel, name string) (*ifnet.Ifnet, error) {
	s, err := stateOf(k)
	if err != nil {
		return nil, err
	}
	s.cloner.Lock()
	defer s.cloner.Unlock()
	if ifnet.ByName(k, name) != nil {
		return nil, fmt.Errorf("creating %s: %w", name, syscall.EEXIST)
	}
	parent, vid, onParent := splitName(name)
	if onParent && ifnet.ByName(k, parent) == nil {
		return nil, fmt.Errorf("creating %s: no interface %s: %w", name, parent, syscall.EINVAL)
	}
	v := s.newVLAN()
	switch {
	case onParent:
		v.ifp.InitName(name, ifnet.DUnitNone)
	default:
		unit, err := s.unit(name)
		if err != nil {
			ifnet.Free(v.ifp)
			return nil, fmt.Errorf("creating %s: %w", name, err)
		}
		v.ifp.InitName(driverName, unit)
	}
	ifnet.EtherAttach(v.ifp, [ifnet.EtherAddrLen]byte{})
	v.ifp.SetBaudrate(0)
	v.ifp.SetHdrlen(ifnet.EtherVLANEncapLen)
	s.mu.Lock()
	s.vlans = append(s.vlans, v)
	s.mu.Unlock()
	err = v.ifp.Ioctl(ifnet.IoctlAddGroup, driverName)
	if err == nil && onParent {
		err = v.ifp.Ioctl(ifnet.IoctlSetVLAN, &ifnet.VLANReq{Parent: parent, VID: vid})
	}
	if err != nil {
		s.destroy(v)
		return nil, err
	}
	return v.ifp, nil
}

// splitName takes a name as em0.100 apart.
func splitName(name string) (parent string, vid uint16, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseUint(name[i+1:], 10, 16)
	return name[:i], uint16(n), err == nil
}

// unit is the number in a name as vlan5, the next free one for vlan.
func (s *state) unit(name string) (int, error) {
	digits, ok := strings.CutPrefix(name, driverName)
	if !ok {
		return 0, syscall.EINVAL
	}
	if digits == "" {
		return s.freeUnit()
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	switch {
	case err != nil || strconv.FormatUint(n, 10) != digits:
		return 0, syscall.EINVAL
	case n > maxUnit:
		return 0, syscall.ENXIO
	}
	return int(n), nil
}

// freeUnit is the lowest unit whose name nobody has.
func (s *state) freeUnit() (int, error) {
	used := make(map[int]bool)
	s.mu.Lock()
	for _, v := range s.vlans {
		used[v.ifp.DUnit()] = true
	}
	s.mu.Unlock()
	for n := range maxUnit + 1 {
		if !used[n] && ifnet.ByName(s.k, driverName+strconv.Itoa(n)) == nil {
			return n, nil
		}
	}
	return 0, syscall.ENOSPC
}

// Destroy takes an interface away (vlan_clone_destroy). EINVAL: it is no VLAN. It may sleep.
func Destroy(ifp *ifnet.Ifnet) error {
	s, err := stateOf(ifp.Kernel())
	if err != nil {
		return err
	}
	s.mu.Lock()
	i := slices.IndexFunc(s.vlans, func(v *vlan) bool { return v.ifp == ifp })
	if i < 0 {
		s.mu.Unlock()
		return fmt.Errorf("destroying %s: %w", ifp.Name(), syscall.EINVAL)
	}
	v := s.vlans[i]
	s.mu.Unlock()
	s.destroy(v)
	return nil
}

// DestroyAll takes all VLAN interfaces of a machine away, newest first: their parents
// cannot be detached before.
func DestroyAll(k *kern.Kernel) {
	s, err := stateOf(k)
	if err != nil {
		return
	}
	s.mu.Lock()
	list := slices.Clone(s.vlans)
	s.mu.Unlock()
	for _, v := range slices.Backward(list) {
		s.destroy(v)
	}
}

// destroy is Destroy of one that is in the list; of two at a time one does it.
func (s *state) destroy(v *vlan) {
	s.mu.Lock()
	i := slices.Index(s.vlans, v)
	if i >= 0 {
		s.vlans = slices.Delete(s.vlans, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return
	}
	v.leave()
	ifnet.EtherDetach(v.ifp)
	ifnet.Free(v.ifp)
}
