// Package hwbnic is the driver of the HWB-1, a network controller made up to
// exercise what the iflib core does beside completion bits in the descriptors: the
// transmit head is written to a word behind the ring, and configuration goes
// through an admin queue that works while the interface is down. FreeBSD's nearest
// relative is ixl(4). The model is package hwbhw; the two share only the constants
// of packages hwbreg and nicreg.
//
// # Datasheet
//
// 1. Resources. PCI fffe:4b01. BAR 0: 64 KiB of registers, 32-bit access;
// statistics also 64-bit. BAR 3: MSI-X table, 9 vectors, vector 0 for the admin
// queue. One MSI message, INTx. Up to 8 queue pairs (CAPS).
//
// 2. Global registers.
//
//	0000 CTRL    0 RST  1 RXEN  2 TXEN  3 MSIX  4 MSI
//	0004 STATUS  0 link up  1 a transmit queue is halted
//	0008 CAPS    7:0 queue pairs
//	000c ICR     read clears, and disables vector 0 if it was not 0; 7:0 queue pairs  16 admin
//	0200 ...     statistics, section 7
//	0300 VCTL    one a vector, 4 bytes apart: 0 enable
//
// RST returns every register to 0, disables the queues and the admin queue and
// forgets their contents and all that admin commands set; the station address
// stays. It is done when the write returns.
//
// 3. Transmit queue n, at 1000 + 100*n. Rings are aligned to 64 bytes and have 16
// to 32768 entries of 16 bytes, a power of two; enabling anything else is refused.
// While a queue is enabled its base, length and head address are read only.
//
//	00 TXBASE lo, hi   08 TXLEN   0c TXHWB lo, hi   14 TXCTL 0 enable 1 halted
//	18 TXTAIL index after the last descriptor        1c TXHEAD next descriptor, read only
//
// Head equal to tail means empty. A tail not below the length is refused.
//
// 3.1 Transmit descriptors. A context stays in force for its queue until the next.
//
//	data     word 0  63:0 buffer address
//	         word 1  15:0 length  19:16 type 1  20 EOP  21 RS
//	                 first of a packet: 22 VLAN  23 IPCSUM  24 L4CSUM  25 TSO
//	context  word 0  7:0 layer 2 length  15:8 layer 3  23:16 layer 4  47:32 MSS  63:48 TCI
//	         word 1  19:16 type 2  26 UDP  27 IPV6
//
// Another type, a context inside a packet or more than 64 data descriptors halt the
// queue and send EVENT_HALTED; nothing is done until it is disabled. A packet that
// ends beyond the tail waits for the tail. A packet that cannot be sent (length 0,
// above 16384 a buffer, headers that do not fit, DMA error, frame above 9234 bytes)
// is dropped and counted.
//
// For TSO and L4CSUM the checksum field holds the pseudo header's sum, without
// the length for TSO. TSO rewrites lengths, identification, sequence, flags.
//
// 3.2 Head write-back. When a packet whose EOP descriptor has RS is done, the index
// after it goes to bits 15:0 of the 64-bit word at TXHWB, which may lie behind the
// ring in the same memory, and the queue's vector has an event.
//
// 4. Receive queue n, in the same block.
//
//	40 RXBASE lo, hi   48 RXLEN   4c RXBUF   50 RXCTL 0 enable
//	54 RXTAIL index after the last filled descriptor   58 RXHEAD read only   5c QVEC vector
//
// Head equal to tail means no buffer. RXBUF is 256 to 16384 bytes. A frame fills as
// many buffers as it needs; without enough of them it is dropped and counted.
//
// 4.1 Receive descriptor.
//
//	filled   word 0  63:0 buffer address        word 1  0
//	written  word 0  31:0 hash  47:32 TCI  51:48 RSS type
//	         word 1  15:0 length  16 DONE  17 EOP  18 VLAN  19 IP checked  20 IP bad
//	                 21 L4 checked  22 L4 bad
//
// Word 0 and bits 18 to 22 are those of the packet and valid with EOP. RSS types: 0
// none, 1 IPv4, 2 TCP/IPv4, 3 UDP/IPv4, 4 IPv6, 5 TCP/IPv6, 6 UDP/IPv6.
//
// 5. Interrupts. An event of an enabled vector signals it and clears its enable
// bit; an event of a disabled one is kept and signalled when it is enabled. Queue
// pair n uses vector QVEC, the admin queue vector 0. Without CTRL.MSIX events set
// bits of ICR instead, and INTx is asserted while ICR is not 0 and vector 0 is
// enabled (CTRL.MSI: one message is sent each time that becomes true).
//
// 6. Admin queue. Two rings of 4 to 256 entries of 32 bytes, aligned to 64.
//
//	0400 ACQ lo, hi  0408 ACQLEN  040c ACQHEAD  0410 ACQTAIL
//	0414 ARQ lo, hi  041c ARQLEN  0420 ARQCONS  0424 ADMCTL 0 enable
//
//	command   word 0  15:0 opcode  63:32 cookie        words 1, 2  parameters
//	response  word 0  15:0 opcode  31:16 status  63:32 cookie  words 1, 2  results
//	          word 3  0 phase: 1 during the first pass, inverted by each wrap; written last
//
//	0001 VERSION  -> firmware, queue pairs    0005 MCAST     address, count (at most 128)
//	0002 GET_MAC  -> address                  0006 RSS       address, bytes (104 or 0)
//	0003 SET_MAC  address                     0007 GET_LINK  -> link
//	0004 RX_MODE  0 promiscuous 1 all multicast 2 take VLAN tags 3 check checksums
//	0008 MAX_FRAME bytes (60 to 9216)
//	8001 EVENT_LINK link                      8002 EVENT_HALTED transmit queue
//
// Status: 0 done, 1 unknown command, 2 bad parameter, 3 DMA error. Link: 0 up, 1
// full duplex, 63:32 Mbit/s. ARQCONS is the 32-bit count of responses consumed since
// enable; beyond what was produced it is refused. While the response ring is full
// commands wait, a link event is kept (the last one) and so is one of each halted
// queue. Ring registers are read only while ADMCTL.0 is set.
//
// 7. Statistics, 64 bits each: 0200 frames sent, 0208 bytes sent, 0210 transmit
// errors, 0218 frames received, 0220 bytes received, 0228 missed, 0230 filtered,
// 0238 receive errors, 0240 refused writes, commands and descriptors.
package hwbnic
