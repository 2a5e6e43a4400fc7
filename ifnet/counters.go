package ifnet

// IncCounter adds to a counter that the stack or the driver keeps here
// (if_inc_counter). No lock, no allocation.
func (ifp *Ifnet) IncCounter(c Counter, n uint64) { ifp.counters[c].Add(n) }

// AddCounterSource adds a place where counts are kept: the default value of a counter
// is what IncCounter added and what each source reports. src may be called from any
// goroutine, at any time until the interface is detached.
func (ifp *Ifnet) AddCounterSource(src func(c Counter) uint64) {
	ifp.sources.change(func(list []func(Counter) uint64) []func(Counter) uint64 { return append(list, src) })
}

// GetCounterDefault is the value kept here and in the sources
// (if_get_counter_default): what a driver's GetCounter returns for the rest.
func (ifp *Ifnet) GetCounterDefault(c Counter) uint64 {
	n := ifp.counters[c].Load()
	if list := ifp.sources.Load(); list != nil {
		for _, src := range *list {
			n += src(c)
		}
	}
	return n
}

// GetCounter is what every reader sees (if_get_counter): the driver's answer if it
// gives one. 0 after detach.
func (ifp *Ifnet) GetCounter(c Counter) uint64 {
	if fn := ifp.methods.Load().GetCounter; fn != nil {
		return fn(c)
	}
	return ifp.GetCounterDefault(c)
}
