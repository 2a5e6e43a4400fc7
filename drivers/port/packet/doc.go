// Package packet is a port on a Linux network interface: what a NIC sends leaves through
// the interface, what arrives there is received, by packet sockets of its own (spec ports
// 0.1). The counterpart on a FreeBSD host is netmap(4) in emulated mode.
//
//	f := port.NewFabric(packet.Kind())
//	p, err := f.Open("packet:eth1")            // needs CAP_NET_RAW
//	p, err = f.Open("packet:veth0,ns=lab")     // also CAP_SYS_ADMIN in that namespace
//
// Two sockets, so that sending never disturbs the ring (case 50):
//
//   - The transmit socket is bound to the interface with protocol 0: it receives nothing.
//     Send gives it up to 32 frames a sendmmsg call, straight from the gather lists, in raw
//     system calls that keep the Go processor (spec ports 0.2). The kernel copies, so a
//     frame is complete when Send returns.
//   - The receive socket has a TPACKET_V2 ring of 8 MiB, whose slots Recv lends. A virtio
//     header in front of each frame (PACKET_VNET_HDR) says where a partial checksum goes
//     and how a super-frame is to be cut; the status bits say which VLAN tag was taken out.
//     A slot is as large as the interface's MTU needs: a super-frame, which is larger, is
//     queued whole behind the ring by the kernel (PACKET_COPY_THRESH) and Recv fetches it
//     into a buffer of its own. A frame that could not be had whole is marked Truncated.
//
// Two goroutines from Bind to Close, and the client hears from no other but Bind's caller:
//
//   - The watcher reads the ring's status words, every 30 us while there is traffic, as
//     interrupt moderation would, and waits in ppoll after 1 ms without (spec ports 5). It
//     also retries for senders that met a full queue.
//   - The monitor reads link messages of netlink. The link is up while the interface has
//     IFF_UP and IFF_RUNNING. An interface that is removed is a link that is down; when one
//     of the same name comes, the port moves to it. One that is renamed stays the port's.
//
// The port asks for promiscuous mode, and leaves addresses, tags and checksums to the NIC
// (spec ports 9.2, rule 4). It never sees what this host sends. Link speed is not the
// port's: the NIC runs at its own.
package packet
