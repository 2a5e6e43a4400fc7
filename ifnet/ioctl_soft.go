package ifnet

import (
	"fmt"
	"slices"
	"syscall"
)

// NameMax is the longest name of an interface or group in bytes (IFNAMSIZ less one).
const NameMax = 15

// numFIBs is the number of routing tables (net.fibs).
const numFIBs = 1

// setSoft serves the requests that change a field of this layer only.
func (ifp *Ifnet) setSoft(cmd Ioctl, data any) error {
	switch cmd {
	case IoctlSetMetric:
		return withData(cmd, data, func(n int) error {
			ifp.metric.Store(int32(n))
			ifp.touch()
			return nil
		})
	case IoctlSetFIB:
		return withData(cmd, data, func(n int) error {
			if n < 0 || n >= numFIBs {
				return fmt.Errorf("fib %d of %d: %w", n, numFIBs, syscall.EINVAL)
			}
			ifp.fib.Store(uint32(n))
			return nil
		})
	case IoctlSetDescr:
		return withData(cmd, data, ifp.setDescr)
	case IoctlAddGroup:
		return withData(cmd, data, ifp.addGroup)
	}
	return withData(cmd, data, ifp.delGroup)
}

// setDescr changes the description; the empty one clears it. The limit counts the NUL.
func (ifp *Ifnet) setDescr(text string) error {
	if limit := ifp.stack.descrMaxLen.Load(); uint64(len(text))+1 > uint64(limit) {
		return fmt.Errorf("description of %d bytes, at most %d: %w", len(text), limit, syscall.ENAMETOOLONG)
	}
	if text == "" {
		ifp.description.Store(nil)
	} else {
		ifp.description.Store(&text)
	}
	ifp.touch()
	return nil
}

// Groups are the groups that the interface is in, oldest first (if_groups).
func (ifp *Ifnet) Groups() []string {
	if g := ifp.groups.Load(); g != nil {
		return slices.Clone(*g)
	}
	return nil
}

// InGroup reports whether the interface is in a group, in one atomic load.
func (ifp *Ifnet) InGroup(name string) bool {
	g := ifp.groups.Load()
	return g != nil && slices.Contains(*g, name)
}

// addGroup is if_addgroup.
func (ifp *Ifnet) addGroup(name string) error {
	if name == "" || len(name) > NameMax || name[len(name)-1] >= '0' && name[len(name)-1] <= '9' {
		return fmt.Errorf("group %q: %w", name, syscall.EINVAL)
	}
	list := ifp.Groups()
	if slices.Contains(list, name) {
		return fmt.Errorf("group %q: %w", name, syscall.EEXIST)
	}
	list = append(list, name)
	ifp.groups.Store(&list)
	return nil
}

// delGroup is if_delgroup.
func (ifp *Ifnet) delGroup(name string) error {
	list := ifp.Groups()
	i := slices.Index(list, name)
	if i < 0 {
		return fmt.Errorf("group %q: %w", name, syscall.ENOENT)
	}
	list = slices.Delete(list, i, i+1)
	ifp.groups.Store(&list)
	return nil
}

// rename serves IoctlSetName (if_rename): EINVAL for an empty name, EEXIST for one
// that is taken, ENAMETOOLONG above NameMax, EBUSY while another rename runs. During
// the departure and arrival events RENAMING is set, and whoever is on top stays.
func (ifp *Ifnet) rename(data any) error {
	name, ok := data.(string)
	if !ok {
		return badData(IoctlSetName, data)
	}
	begun, err := ifp.beginRename(name)
	if err != nil {
		return fmt.Errorf("%s %q on %s: %w", IoctlSetName, name, ifp.Name(), err)
	}
	if !begun {
		return nil
	}
	ifp.publish(EventDeparture)
	err = ifp.finishRename(name)
	if err == nil {
		ifp.publish(EventRename)
	}
	ifp.publish(EventArrival)
	ifp.SetFlags(0, FlagRenaming)
	return err
}

func (ifp *Ifnet) beginRename(name string) (begun bool, err error) {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	switch {
	case ifp.leaving:
		return false, syscall.ENXIO
	case name == "":
		return false, syscall.EINVAL
	case len(name) > NameMax:
		return false, syscall.ENAMETOOLONG
	case name == ifp.Name():
		return false, nil
	case ifp.Flags()&FlagRenaming != 0:
		return false, syscall.EBUSY
	case ByName(ifp.k, name) != nil:
		return false, syscall.EEXIST
	}
	ifp.SetFlags(FlagRenaming, 0)
	return true, nil
}

// finishRename takes the name if it is still free.
func (ifp *Ifnet) finishRename(name string) error {
	s := ifp.stack
	s.mu.Lock()
	if s.byName(name) != nil {
		s.mu.Unlock()
		return fmt.Errorf("%s %q on %s: %w", IoctlSetName, name, ifp.Name(), syscall.EEXIST)
	}
	old := ifp.name.Swap(&name)
	s.mu.Unlock()
	ifp.k.Printf("%s: changing name to '%s'\n", *old, name)
	return nil
}
