package ifnet

// LinkState is if_link_state, one atomic load.
func (ifp *Ifnet) LinkState() LinkState { return LinkState(ifp.linkState.Load()) }

// LinkStateChange stores a new link state and queues the task that tells the others
// (if_link_state_change, spec ifnet 6.10). Any goroutine; does not sleep.
func (ifp *Ifnet) LinkStateChange(s LinkState) {
	if LinkState(ifp.linkState.Swap(uint32(s))) == s {
		return
	}
	ifp.linkChange.Add(1)
	if t := ifp.linkTask.Load(); t != nil {
		t.Enqueue()
	}
}

// linkStateTask is do_link_state_change: only the state that is current when it runs
// is seen.
func (ifp *Ifnet) linkStateTask() {
	pending := ifp.linkChange.Swap(0)
	if pending == 0 {
		return // an earlier run took the change that queued this one
	}
	state := ifp.LinkState()
	if pending > 1 {
		ifp.Printf("%d link states coalesced\n", pending)
	}
	if ifp.stack.logLink.Load() != 0 {
		text := "DOWN"
		if state == LinkStateUp {
			text = "UP"
		}
		ifp.Printf("link state changed to %s\n", text)
	}
	ifp.publish(EventLink)
}
