// Package cqnic is the driver of the CQ-1, a network controller made up to
// exercise what the iflib core does beside plain descriptor rings: completion
// queues on both sides, two free lists in a receive set and doorbells that
// count. FreeBSD's nearest relative is bnxt(4). The model is package cqhw; the
// two share only the constants of packages cqreg and nicreg.
//
// # Datasheet
//
// 1. Resources. PCI fffe:c901. BAR 0: 64 KiB of registers, 32-bit access;
// statistics also 64-bit. BAR 3: MSI-X table, 17 vectors, vector 0 for the
// link. One MSI message, INTx. Up to 8 transmit and 8 receive queues (HWCAP).
//
// 2. Global registers.
//
//	0000 CTRL    0 RST  1 RXEN  2 TXEN  3 PROMISC  4 ALLMULTI  5 VLANTAKE  6 RXCSUM  7 MSIX  8 MSI
//	0004 STATUS  0 link up  1 full duplex  2 a queue is halted  31:8 Mbit/s
//	0008 HWCAP   7:0 transmit queues  15:8 receive queues
//	000c ICR     read clears; 7:0 receive queues  15:8 transmit queues  16 link
//	0010 IMS     sets mask bits (read: mask)      0014 IMC  clears mask bits
//	0020 MACLO   0024 MACHI   0028 MAXFRM   002c RSSCTL 0 spread by hash
//	0030 MCHLO   0034 MCHHI   64 buckets, chosen by bits 31:26 of the address's CRC-32
//	0040 RSSKEY  10 registers                     0080 RETA  64 entries of 8 bits
//	0200 ...     statistics, section 7
//
// RST returns every register but MACLO and MACHI to 0, disables the queues and
// forgets what they held; frames already given to the wire still leave. It is
// done when the write returns.
//
// 3. Transmit queue n, at 1000 + 100*n. Rings are aligned to 64 bytes and have
// 16 to 32768 entries of 16 bytes, a power of two; setting TXCTL.0 with anything
// else is refused. While a queue is enabled its base and length are read only.
//
//	00 TXBASE lo, hi   08 TXLEN   0c TXCQ lo, hi   14 TXCQLEN   18 TXCTL 0 enable 1 halted
//	1c TXDB      packets added since the last write (not descriptors, not an index)
//	20 TXCQCONS  completion entries consumed since enable, 32 bits
//	24 TXCQARM   arm the event at this count      28 TXVEC  MSI-X vector
//
// A TXDB write that makes more packets outstanding than TXLEN is refused whole.
//
// 3.1 Transmit descriptor.
//
//	word 0  63:0 buffer address
//	word 1  15:0 length  16 FIRST  17 LAST  18 REPORT  19 EXT  31:24 COUNT (1..64)
//
// COUNT, REPORT and EXT count in the first descriptor only. COUNT is the number
// of descriptors of the packet. A chain that cannot be followed (FIRST missing,
// COUNT out of range, LAST not exactly in the last one) halts the queue: it
// writes a completion with HALTED and does nothing until disabled. A packet that
// is well framed but cannot be sent (length 0, above 16384 a buffer, headers that
// do not fit, DMA error, frame above 9234 bytes) is dropped, counted, reported.
//
// 3.2 Extension descriptor, second of the packet when EXT is set.
//
//	word 0  0 VLAN  1 IPCSUM  2 L4CSUM  3 TSO  4 UDP  5 IPV6  31:16 TCI  47:32 MSS
//	word 1  7:0 layer 2 length  15:8 layer 3  31:24 layer 4
//
// For TSO and L4CSUM the checksum field holds the pseudo header's sum, without
// the length for TSO. TSO rewrites lengths, identification, sequence, flags.
//
// 4. Receive queue n, in the same block.
//
//	40 RXCQ lo, hi   48 RXCQLEN   4c RXFL0 lo, hi   54 RXFL0LEN   58 RXFL1 lo, hi   60 RXFL1LEN
//	64 RXCTL 0 enable   68 RXFL0TAIL   6c RXFL1TAIL   70 RXCQCONS   74 RXCQARM   78 RXVEC
//
// The tails name the entry after the last filled; a list never holds more than
// its length minus one. A frame starts in one buffer of list 0 and goes on in up
// to 15 buffers of list 1, each filled whole. Without enough buffers or completion
// entries it is dropped and counted. When a list runs dry, and a completion entry
// is free, one NOTE is written; the next only after that list's tail was written.
//
// 4.1 Free list descriptor.
//
//	word 0  63:0 buffer address       word 1  15:0 slot tag  31:16 bytes (256 or more)
//
// 5. Completion entries. Word 1 is written after word 0. Bit 0 of word 1 is the
// phase: 1 during the first pass, inverted by each wrap. Bits 3:1: 1 transmit,
// 2 receive, 3 aggregation, 4 note. Unlisted bits are 0.
//
//	transmit     word 0  15:0 index after the last descriptor done  31:16 packets refused  32 HALTED
//	receive      word 0  15:0 length  31:16 slot tag  63:32 hash
//	             word 1  7:4 aggregation entries  8 VLAN  9 IP checked  10 IP bad  11 L4 checked
//	                     12 L4 bad  19:16 RSS type  47:32 TCI  63:48 bytes in the first buffer
//	aggregation  word 0  15:0 bytes  31:16 slot tag
//	note         word 0  0 free list number
//
// RSS types: 0 none, 1 IPv4, 2 TCP/IPv4, 3 UDP/IPv4, 4 IPv6, 5 TCP/IPv6, 6 UDP/IPv6.
// A transmit queue whose completion queue is full stops until TXCQCONS moves. A
// consumed count beyond what was produced is refused.
//
// 6. Interrupts. Writing a consumed count to TXCQARM or RXCQARM arms that
// queue's event; the arm register does not move the consumer. An armed event
// fires as soon as the count of entries produced differs from the armed count
// and its mask bit is set, and disarms itself: with CTRL.MSIX it signals the
// vector of TXVEC or RXVEC, otherwise it sets its bit of ICR. The link event sets
// ICR.16 and signals vector 0. Without MSIX, INTx is asserted (CTRL.MSI: one
// message is sent at each setting) while ICR and mask share a bit.
//
// 7. Statistics, 64 bits each: 0200 frames sent, 0208 bytes sent, 0210 transmit
// errors, 0218 frames received, 0220 bytes received, 0228 missed, 0230 filtered,
// 0238 receive errors, 0240 refused writes and descriptors.
package cqnic
