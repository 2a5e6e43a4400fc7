// Package hw is the kit that the hardware models are made of. FreeBSD has no
// counterpart: there this is the silicon. A model is a pci.Device that owns registers and
// descriptor formats; what all NICs do alike is here.
//
//   - [Engine] runs descriptor work, inline in the register write or on a goroutine;
//     [WorkList] keeps two NICs on one wire from running inside each other.
//   - [DMA] is memory as the device sees it, with faults counted and reported once.
//   - [TxBatch] turns descriptors into frames ([Offload]: checksums, tag, segmentation,
//     padding), hands them to the port and says when a packet is done; [RxSource] lends
//     received frames as a wire would deliver them.
//   - [Headers], [Sum], [Segmenter], [Toeplitz], [Gather] and [MTAHash] are pure functions
//     on bytes.
//   - [Throttle] and [Delayer] moderate interrupts, [Stats] and [StatReg] are statistics
//     registers, [Link] is a PHY with its port as the cable, [Faults] injects faults.
//
// Nothing on the data path allocates, reads a clock (but for a vector that is throttled)
// or takes a lock. A transmit queue:
//
//	func (q *txQueue) work() { q.batch.Run(q) }        // called by the Engine
//
//	func (q *txQueue) FetchTx(b *hw.TxBatch) bool {    // one packet
//		...                                         // false if its descriptors are not all there
//		buf, err := q.dma.Slice(addr, n, busdma.ToDevice)
//		...                                         // on error: q.dma.Fault, b.Drop
//		b.Append(buf)
//		_ = b.End(&q.offload, uint64(next))         // an error comes back as c.Failed
//		return true
//	}
//
//	func (q *txQueue) CompleteTx(c hw.Completion) {    // the port is done with it
//		q.head.Store(uint32(c.Cookie))
//		...                                         // write back unless c.Silent
//	}
//
// and the register write that starts it ends, without a lock, with engine.Doorbell(q).
package hw
