// Package skel is the driver of the SKEL-1, a network controller made up for drivers to
// be learnt from: the least that iflib asks of an honest driver. Its hardware is package
// skelhw; the two share only the constants of package skelreg. FreeBSD's counterparts
// are the parts of a driver's softc and its struct if_txrx.
//
// Read this page, then driver.go, init.go, intr.go, link.go and txrx.go, in that order:
// attach, init, interrupts, link, packets.
//
// # Datasheet
//
// 1. Resources. PCI fffe:5ce1. BAR 0: 4 KiB of registers, 32-bit access. BAR 2: MSI-X
// table, 3 vectors. One MSI message. INTx. Two queue pairs.
//
// 2. Global registers.
//
//	0000 CTRL     0 reset, clears itself  1 receiver on  2 transmitter on
//	0004 STATUS   0 link up  1 full duplex  31:16 Mbit/s
//	0008 ICAUSE, 000c IENABLE, 0010 IDISABLE   section 5
//	0014 MACLO, 0018 MACHI   station address, first byte lowest
//	001c RXMODE   0 take all  1 take all groups  2 take tags out  3 check checksums  4 spread
//	0020 MAXFRAME longest frame received, in bytes without FCS and 802.1Q tag
//	0024 GROUPLO, 0028 GROUPHI   bit n: take groups whose address ends in n modulo 64
//
// Reset stops the queues and zeroes every register, but for the station address, which
// is read from the NVM. It is done when the write returns.
//
// 3. Transmit queue of pair n, at 0100 + 40*n. A ring has 64 to 4096 entries of 16
// bytes, a power of two, and is aligned to 64 bytes. While a queue runs its other
// registers cannot be written.
//
//	00 TXBASELO, 04 TXBASEHI ring   08 TXLEN entries; starts at entry 0, 0 stops   0c TXBELL
//
// The part takes descriptors in order as long as it owns them, and sleeps at the first
// that it does not own, until anything is written to TXBELL.
//
// 3.1 A packet is 1 to 16 descriptors. Bits 34 to 36 and the tag count in the first.
//
//	word 0  63:0 address
//	word 1  15:0 bytes  31:16 tag  32 end  33 notify  34 insert tag  35 fill in IPv4 checksum
//	        36 fill in TCP or UDP checksum (the field holds the pseudo header's sum)  63 own
//
// Software gives a packet to the part by setting the first descriptor's own bit, last of
// all. The part gives it back when it is sent: it writes 0 to word 1 of every
// descriptor, the first one last. An owned descriptor that leads to one which is not, or
// to a seventeenth, stops the queue for good. A packet that cannot be sent (no bytes, a
// checksum without its header, DMA error, more than 9234 bytes) is given back and counted.
//
// 4. Receive queue, in the same block.
//
//	10 RXBASELO, 14 RXBASEHI ring   18 RXLEN entries; starts at entry 0, asleep, 0 stops
//	1c RXBUF bytes of every buffer, 256 to 16384   20 RXBELL
//
// A frame fills as many buffers as it needs. If the part does not own so many, the frame
// is lost and counted, and the queue sleeps and loses all that comes until anything is
// written to RXBELL. With RXMODE.4 a frame goes to pair (hash modulo 2), else to pair 0.
//
// 4.1 Receive descriptor. Bits 34 to 37, tag and hash come with end.
//
//	given  word 0  63:0 address   word 1  63 own
//	back   word 0  31:0 hash      word 1  15:0 bytes  31:16 tag  32 end  34 tag was taken out
//	       35 IPv4 checksum is right  36 TCP or UDP checksum is right  37 hash is valid
//
// The hash is the CRC-32 of both IP addresses and, of TCP and UDP, both ports.
//
// 5. Interrupts. Event n, 0 and 1 for the pairs and 2 for a change of the link, is bit n.
// Bits written to IENABLE and IDISABLE enable and disable events. An event that happens
// is pending; one that is enabled and pending is due. With MSI-X a due event sends
// message n and is neither enabled nor pending any more. Without, INTx is asserted while
// an event is due, or an MSI message is sent each time that becomes so; reading ICAUSE
// returns the due events, which are then neither enabled nor pending.
//
// 6. Statistics, 64 bits each, low half read first: 0040 frames sent, 0048 transmit
// errors, 0050 frames received, 0058 receive errors, 0060 missed, 0068 filtered,
// 0070 writes and descriptors refused.
package skel
