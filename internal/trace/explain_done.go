package trace

import (
	"fmt"
	"strings"
)

// What the hardware does, and what comes back.

func explainRegWrite(x *explainer) {
	name, causes, _ := strings.Cut(x.e.Note, " ")
	x.say("%s <- %#x", name, x.arg("value"))
	switch {
	case name == "IMS":
		x.also("(%s): these causes may interrupt again.", causes)
	case name == "IMC":
		x.also("(%s): these causes are masked.", causes)
	case causes != "":
		x.also("(%s).", causes)
	case strings.HasPrefix(name, "EITR") || name == "ITR":
		x.also("(%d units of 256 ns): the least time between two interrupts, adapted to the traffic.", x.arg("value"))
	case strings.HasPrefix(name, "TDT") && x.arg("old") == x.arg("new"):
		x.also("(%d): the tail does not move, there is nothing new for the hardware.", x.arg("value"))
	case strings.HasPrefix(name, "TDT"):
		x.also("(%d): the doorbell. Descriptors %d up to %d now belong to the hardware.", x.arg("value"), x.arg("old"), x.arg("new"))
	}
	field := map[string]string{"IMC": "IMS", "ICS": "ICR"}[name]
	if field == "" {
		field = name
	}
	x.changed(field, hex(x.arg("old")), hex(x.arg("new")))
}

func hex(v uint64) string { return fmt.Sprintf("%#x", v) }

func explainRegRead(x *explainer) { x.say("%s -> %#x.", x.e.Note, x.arg("value")) }

func explainFetch(x *explainer) {
	x.say("The hardware reads descriptor %d: %s", x.arg("index"), x.e.Note)
}

func explainGather(x *explainer) {
	x.say("It reads the packet from memory: %s in %s. Asked for: %s.", plural(x.arg("len"), "byte"), plural(x.arg("pieces"), "piece"), x.e.Note)
}

func explainSend(x *explainer) {
	x.sent++
	x.say("The frame of %s goes out of port %s.", plural(x.arg("len"), "byte"), x.e.Note)
}

func explainWriteBack(x *explainer) {
	x.reported++
	x.say("RS was set, so descriptor %d is written back with DD, done: %s", x.arg("index"), x.e.Note)
	x.changed(fmt.Sprintf("descriptor %d word 1", x.arg("index")), fmt.Sprintf("%016x", x.arg("old")), fmt.Sprintf("%016x", x.arg("new")))
}

func explainHead(x *explainer) {
	x.say("The head moves behind the packet.")
	x.changed(fmt.Sprintf("TDH(%d)", x.e.Queue), hex(x.arg("old")), hex(x.arg("new")))
}

func explainDelay(x *explainer) {
	x.say("IDE was set, so the interrupt (%s) waits for the delay timer: TIDV is %d units of 1.024 us.", x.e.Note, x.arg("tidv"))
}

func explainCause(x *explainer) {
	icr, ims := x.arg("icr"), x.arg("ims")
	x.say("The cause %s is set. IMS is %#x:", x.e.Note, ims)
	if icr&ims != 0 {
		x.also("it is enabled, so an interrupt is asked for.")
	} else {
		x.also("it is masked, nobody is told.")
	}
	x.changed("ICR", hex(icr&^x.arg("fresh")), hex(icr))
}

func explainVector(x *explainer) {
	x.vectors++
	x.say("IVAR sends %s to vector %d: an MSI-X message is posted to the vector's CPU. EIAC clears the cause and masks it until the task is done.", x.e.Note, x.arg("vector"))
	x.changed("ICR", hex(x.arg("icr")|x.arg("causes")), hex(x.arg("icr")))
	x.changed("IMS", hex(x.arg("ims")|x.arg("causes")), hex(x.arg("ims")))
}

func explainLine(x *explainer) {
	x.vectors++
	kind := "INTx is asserted"
	if x.arg("msi") != 0 {
		kind = "an MSI message is posted"
	}
	x.say("A cause in ICR is enabled: %s.", kind)
}

func explainFilter(x *explainer) {
	x.say("The CPU takes the interrupt (rid %d).", x.arg("rid"))
	if x.arg("schedule") != 0 {
		x.also("The driver's filter returns FILTER_SCHEDULE_THREAD: iflib looks at both directions (a peek at DD), queues the tasks that have work, and enables the interrupts of the others again.")
	} else {
		x.also("The driver's filter has handled it.")
	}
}

func explainTask(x *explainer) {
	x.say("The queue's task runs.")
	switch {
	case x.simple:
		x.also("It takes ift_mtx, sends what is in the buf_ring, reclaims, and enables the interrupt again.")
	case x.arg("db_pending") != 0:
		x.also("Descriptors wait for a doorbell, so it has the ring drained.")
	default:
		x.also("No doorbell is owed and only a STALLED or ABDICATED ring needs help, so it reclaims nothing; it enables the interrupt again.")
	}
}

func explainCredits(x *explainer) {
	q := x.queue()
	x.say("The driver looks at the descriptors that asked for a report, finds DD, and returns %s: all up to that descriptor are done.", plural(x.arg("credits"), "credit"))
	set(x, "ift_processed", &q.Processed, x.arg("processed"))
}

func explainReclaimNone(x *explainer) {
	done, reserve := x.arg("completed"), x.arg("reserve")
	x.reserve = int(reserve)
	x.say("Reclaim? %s done and not yet freed, and iflib keeps the last %d (isc_tx_nsegments) back, so nothing is freed.",
		plural(done, "descriptor")+areOrIs(done), reserve)
	if t := x.arg("thresh"); t != 0 {
		x.also("tx_reclaim_thresh is %d.", t)
	}
}

func areOrIs(n uint64) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

func explainFree(x *explainer) {
	x.freed++
	x.say("The packet of %s at slot %d is freed: %s.", plural(x.arg("len"), "byte"), x.arg("slot"), plural(x.arg("mbufs"), "mbuf"))
}

func explainReclaim(x *explainer) {
	n, q := x.arg("ndescs"), x.queue()
	x.say("%s free again.", plural(n, "descriptor")+areOrIs(n))
	set(x, "ift_cidx", &q.Cidx, uint16(x.arg("to")))
	set(x, "ift_in_use", &q.InUse, q.InUse-uint16(n))
	set(x, "ift_cleaned", &q.Cleaned, q.Cleaned+n)
}
