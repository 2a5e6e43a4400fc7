package trace

import (
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// What a sender does.

func explainTransmit(x *explainer) {
	x.simple = x.arg("simple_tx") != 0
	x.say("A packet of %s in %s enters the interface.", plural(x.arg("len"), "byte"), plural(x.arg("mbufs"), "mbuf"))
	if x.arg("rsstype") == 0 {
		x.also("It carries no flow hash (M_HASHTYPE_NONE).")
	} else {
		x.also("Its flow is %#x.", x.arg("flowid"))
	}
	if f := x.arg("csum_flags"); f != 0 {
		x.also("It asks for offloads: csum_flags %#x.", f)
	} else {
		x.also("It asks for no offload.")
	}
	if x.simple {
		x.also("The device runs simple_tx: senders share a mutex.")
		x.st.Function = "iflib_simple_transmit"
		return
	}
	x.also("The device runs mp_ring: senders share a ring without a lock.")
	x.st.Function = "iflib_if_transmit"
}

func explainSelect(x *explainer) {
	x.say("Transmit queue %d of %d: %s.", x.arg("queue"), x.arg("ntxqs"), x.e.Note)
	if x.simple {
		x.st.Function = "iflib_simple_select_queue"
	}
}

func explainReserve(x *explainer) {
	x.say("The sender reserves a slot: one compare-and-swap moves pidx_head. Other senders may reserve behind it at the same time.")
	x.ringWord()
}

func explainPublish(x *explainer) {
	x.say("The packet is in its slot, so pidx_tail follows: consumers may see it.")
	x.ringWord()
	switch was, is := x.ringState("old"), x.ringState("new"); {
	case was != "BUSY" && is == "BUSY":
		x.also("The ring was %s: this sender sets BUSY in the same word and becomes the consumer.", was)
	case is == "BUSY":
		x.also("Somebody else is the consumer and will take it: the sender is done.")
	case is == "ABDICATED":
		x.also("tx_abdicate is set: the queue's task will consume it.")
	}
}

func explainDrain(x *explainer) {
	x.say("The consumer drains slots %d up to %d through iflib_txq_drain; after %d packets it may hand the ring to another sender. It owns the hardware ring while the state is BUSY.",
		x.arg("cidx"), x.arg("pidx"), x.arg("budget"))
}

func explainSettle(x *explainer) {
	x.ringWord()
	switch x.ringState("new") {
	case "IDLE":
		x.say("Everything is consumed: cidx is published and the ring is IDLE. The next sender will be the consumer.")
	case "ABDICATED":
		x.say("The budget is used up and another sender is on its way: the ring is ABDICATED, and that one takes over.")
	default:
		x.say("Progress is published; there is more to consume.")
	}
}

func explainStall(x *explainer) {
	x.say("The hardware ring took nothing: the ring is STALLED, its packets wait until descriptors are free.")
	x.ringWord()
}

func explainLock(x *explainer) {
	if x.st.Function = "mtx_trylock"; x.arg("deferred") != 0 {
		x.say("ift_mtx is taken. Packets that others deferred into the buf_ring go first.")
	} else {
		x.say("ift_mtx is free, so the sender takes it and sends the packet itself; nothing waits in the buf_ring. It owns the hardware ring while it holds the mutex.")
	}
	x.changed("ift_mtx", "free", "held")
}

func explainUnlock(x *explainer) {
	x.st.Function = "mtx_unlock"
	x.say("The queue's state is published and ift_mtx is free again.")
	x.changed("ift_mtx", "held", "free")
}

func explainDefer(x *explainer) {
	x.say("ift_mtx is held by somebody: the packet of %s is left in the buf_ring, and the holder sends it.", plural(x.arg("len"), "byte"))
}

func explainEncap(x *explainer) {
	x.say("The packet of %s is to become descriptors from slot %d on; %d are free (TXQ_AVAIL: the ring less what is in use and the pad).",
		plural(x.arg("len"), "byte"), x.arg("pidx"), x.arg("avail"))
	if x.arg("csum_flags") == 0 && x.arg("mflags")&uint64(mbuf.FlagVLANTag) == 0 {
		x.also("Without offloads its headers need not be parsed.")
	}
}

func explainParse(x *explainer) {
	x.say("The headers are parsed for the offload: Ethernet %d bytes, IP %d, transport %d; EtherType %#04x, protocol %d. %s.",
		x.arg("ehdrlen"), x.arg("ip_hlen"), x.arg("tcp_hlen"), x.arg("etype"), x.arg("ipproto"), plural(x.arg("pullups"), "m_pullup"))
}

func explainSegment(x *explainer) {
	x.say("DMA segment %d of %d: %s at bus address %#x.", x.arg("index")+1, x.arg("nsegs"), plural(x.arg("len"), "byte"), x.arg("addr"))
}

func explainReport(x *explainer) {
	rs, limit := x.arg("rs_pending"), x.arg("limit")
	q := x.queue()
	if x.arg("asked") != 0 {
		x.say("%d descriptors would wait for a report, more than the limit of %d at this fill level: IPI_TX_INTR asks the hardware to report this packet.", rs, limit)
		set(x, "ift_rs_pending", &q.RSPending, 0)
		return
	}
	x.say("%d descriptors wait for a report, the limit at this fill level is %d: no report is asked for yet.", rs, limit)
	set(x, "ift_rs_pending", &q.RSPending, uint16(rs))
}

func explainTxdEncap(x *explainer) {
	n, q := x.arg("ndescs"), x.queue()
	x.say("The driver used %s for %s. They are in memory; the hardware does not know yet.",
		plural(n, "descriptor"), plural(x.arg("nsegs"), "segment"))
	if x.arg("flags")&uint64(iflib.PktTxIntr) != 0 {
		x.also("IPI_TX_INTR became RS in the last one.")
	}
	set(x, "ift_pidx", &q.Pidx, uint16(x.arg("new_pidx")))
	set(x, "ift_in_use", &q.InUse, q.InUse+uint16(n))
	set(x, "ift_db_pending", &q.DBPending, q.DBPending+uint16(n))
}

func explainDoorbell(x *explainer) {
	pending, limit := x.arg("db_pending"), x.arg("limit")
	switch {
	case x.arg("forced") != 0:
		x.say("Ring the doorbell? Yes, it is forced: %d descriptors wait for it.", pending)
	case pending >= limit && pending == 0:
		x.say("Ring the doorbell? The limit is 0 with %d descriptors in use, and 0 is not below 0: iflib rings although nothing waits, as FreeBSD does.", x.arg("in_use"))
	case pending >= limit:
		x.say("Ring the doorbell? Yes: %d descriptors wait for it, the limit is %d with %d in use.", pending, limit, x.arg("in_use"))
	default:
		x.say("Ring the doorbell? Only if the ring is nearly full: %d descriptors wait, the limit is %d with %d in use.", pending, limit, x.arg("in_use"))
	}
}

func explainFlush(x *explainer) {
	x.say("The driver is told to publish index %d.", x.arg("value"))
	q := x.queue()
	set(x, "ift_db_pending", &q.DBPending, 0)
}

func explainDescWrite(x *explainer) {
	x.say("Descriptor %d <- %016x %016x: %s", x.arg("index"), x.arg("word0"), x.arg("word1"), x.e.Note)
}
