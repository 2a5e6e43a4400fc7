package em

import "github.com/ifsim/ifsim/ifnet"

// updateStats collects what the part counted.
func (sc *softc) updateStats() {
	if sc.stats.Collect(&sc.hw) {
		sc.ctx.Softc().PauseFrames.Store(true)
	}
}

// GetCounter adds the part's counts to iflib's (em_if_get_counter).
func (sc *softc) GetCounter(c ifnet.Counter) uint64 {
	return sc.stats.Counter(c, sc.ctx.Ifp().GetCounterDefault(c), sc.path.errs.Dropped.Load())
}
