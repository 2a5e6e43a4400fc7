package ifnet

import (
	"fmt"
	"syscall"
)

// setFlags serves IoctlSetFlags (spec ifnet 6.8): down first, then the permanent
// modes, then all flags that may change, then the driver, whose answer does not
// count, then up.
func (ifp *Ifnet) setFlags(flags Flags) error {
	old := ifp.Flags()
	goesUp := flags&FlagUp != 0 && old&FlagUp == 0
	if flags&FlagUp == 0 && old&FlagUp != 0 {
		ifp.down()
	}
	ifp.permanent(old, flags, FlagPPromisc, FlagPromisc, ifp.pcount, "promiscuous")
	ifp.permanent(old, flags, FlagPAllMulti, FlagAllMulti, ifp.amcount, "allmulti")
	ifp.SetFlags(flags&^FlagCantChange, ^flags&^FlagCantChange)
	_ = ifp.driver(IoctlSetFlags, nil)
	if goesUp {
		ifp.touch()
		ifp.note(EventUp)
	}
	ifp.touch()
	return nil
}

// permanent makes the mode follow its permanent flag, unless somebody holds a
// reference on the mode.
func (ifp *Ifnet) permanent(old, flags, permanent, mode Flags, refs int, what string) {
	if (old^flags)&permanent == 0 {
		return
	}
	state := "disabled"
	if flags&permanent != 0 {
		state = "enabled"
		ifp.SetFlags(mode, 0)
	} else if refs == 0 {
		ifp.SetFlags(0, mode)
	}
	if ifp.stack.logPromisc.Load() != 0 {
		ifp.Printf("permanently %s mode %s\n", what, state)
	}
}

// down is if_down: the flag, the queues, the event.
func (ifp *Ifnet) down() {
	ifp.SetFlags(0, FlagUp)
	ifp.touch()
	ifp.QFlush()
	ifp.note(EventDown)
}

// Promisc takes or gives back a reference on promiscuous mode (ifpromisc). The first
// and the last change PROMISC and ask the driver; its error undoes the change. EINVAL:
// no reference to give back; ENXIO: detached.
func (ifp *Ifnet) Promisc(on bool) error {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	changed, err := ifp.countMode(on, FlagPromisc, FlagPPromisc, &ifp.pcount)
	if err != nil {
		return fmt.Errorf("promiscuous mode of %s: %w", ifp.Name(), err)
	}
	if changed && ifp.stack.logPromisc.Load() != 0 {
		state := "disabled"
		if on {
			state = "enabled"
		}
		ifp.Printf("promiscuous mode %s\n", state)
	}
	return nil
}

// AllMulti is Promisc for reception of all groups (if_allmulti); nothing is logged.
func (ifp *Ifnet) AllMulti(on bool) error {
	ifp.ioctl.Lock()
	defer ifp.unlock()
	if _, err := ifp.countMode(on, FlagAllMulti, FlagPAllMulti, &ifp.amcount); err != nil {
		return fmt.Errorf("allmulti mode of %s: %w", ifp.Name(), err)
	}
	return nil
}

// countMode is if_setflag: it moves the count and, at its ends, the flag.
func (ifp *Ifnet) countMode(on bool, mode, permanent Flags, count *int) (changed bool, err error) {
	if ifp.dead || on && ifp.leaving {
		return false, syscall.ENXIO
	}
	old := *count
	if on {
		*count++
	} else if old == 0 {
		return false, syscall.EINVAL
	} else {
		*count--
	}
	if ifp.Flags()&permanent != 0 || on && old != 0 || !on && *count != 0 {
		return false, nil
	}
	ifp.switchMode(on, mode)
	if err := ifp.driver(IoctlSetFlags, nil); err != nil {
		*count = old
		ifp.switchMode(!on, mode)
		return false, err
	}
	return true, nil
}

func (ifp *Ifnet) switchMode(on bool, mode Flags) {
	if on {
		ifp.SetFlags(mode, 0)
	} else {
		ifp.SetFlags(0, mode)
	}
}
