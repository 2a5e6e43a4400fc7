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
// Nothing on the data path allocates, reads a clock or takes a lock. A transmit queue:
//
//	func (n *nic) txWork(q int) {                  // work function of the Engine
//		for d := range n.descriptors(q) {
//			if !tx.Begin() {                    // full: leave the head where it is
//				break
//			}
//			buf, err := n.dma.Slice(d.addr, d.len, busdma.ToDevice)
//			...
//			tx.Append(buf)
//			tx.End(&offload, cookie)
//		}
//		tx.Send()
//		for c, ok := tx.Done(); ok; c, ok = tx.Done() {
//			n.writeBack(q, c)
//		}
//	}
//
// and the register write that starts it ends with n.engine.Doorbell(q).
package hw
