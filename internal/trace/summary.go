package trace

import "fmt"

// summary says where the packets are, what is still held, and why.
func (s *session) summary(r *Result, x *explainer) []string {
	ctx := s.m.Ctx(s.cfg.Iface)
	l := ctx.Ledger()
	port := s.m.Port(s.cfg.Iface)
	out := []string{
		fmt.Sprintf("if_transmit returned %s for %s.", list(s.errs), plural(uint64(r.Packets), "packet")),
		fmt.Sprintf("The wire: port %s took %s while we watched.", port.Name(), plural(uint64(x.sent), "frame")),
		fmt.Sprintf("iflib's account since boot: %v.", l),
	}
	for _, q := range r.After {
		out = append(out, held(q, x)...)
	}
	return out
}

// list joins equal results to one.
func list(results []string) string {
	for _, s := range results {
		if s != results[0] {
			return fmt.Sprint(results)
		}
	}
	return results[0]
}

// held says what a queue still has. A queue that never sent has nothing to say.
func held(q Queue, x *explainer) []string {
	if q.Pidx == 0 && q.InUse == 0 && q.Cleaned == 0 {
		return nil
	}
	done := q.Processed - q.Cleaned
	out := []string{fmt.Sprintf("Queue %d: ift_pidx %d, ift_cidx %d, ift_in_use %d, ift_processed %d, ift_cleaned %d.",
		q.ID, q.Pidx, q.Cidx, q.InUse, q.Processed, q.Cleaned)}
	if q.InUse == 0 {
		return append(out, "Nothing is held.")
	}
	if uncounted := uint64(q.InUse) - done; uncounted != 0 {
		why := "The hardware has not reported them."
		if x.reported > 0 {
			why = "The hardware is done with what it reported (DD), but nobody has asked for credits since: on mp_ring the next drain does."
			if x.simple {
				why = "The hardware is done with what it reported (DD), but nobody has asked for credits since: the next holder of ift_mtx does."
			}
		}
		out = append(out, fmt.Sprintf("Held: %s not credited. %s", plural(uncounted, "descriptor")+areOrIs(uncounted), why))
	}
	if done != 0 {
		out = append(out, fmt.Sprintf("Held: %s done and kept: iflib frees only what exceeds the last %d completed ones, so their mbufs stay until more packets are sent or the interface stops.",
			plural(done, "descriptor")+areOrIs(done), x.reserve))
	}
	return out
}
