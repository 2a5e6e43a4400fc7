package main

import (
	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/spf13/cobra"
)

func pktgenCommand() *cobra.Command {
	cmd := toolCommand(&cobra.Command{
		Use:   "pktgen [--socket SOCKET] -i INTERFACE [-f FUNCTION] [OPTION ...]",
		Short: "send, count or answer frames on an interface of a running machine, as pkt-gen(8)",
		Long: `Generates UDP packets and sends them from an interface, counts what an interface receives,
or measures how long answers take: netmap's pkt-gen, for interfaces of ifsim. Packets go
through the interface's transmit path, and what is received goes on to the stack as well.

    -i INTERFACE  interface of a NIC
    -f FUNCTION   what to do; rx if it is left out:
                      tx    send
                      rx    count what is received
                      ping  send, wait for the answer, and tell how long it took
                      pong  send back what is received, with its addresses exchanged
    -n COUNT      end after COUNT frames; 0, the default, goes on until it is interrupted
    -l SIZE       bytes of a frame without FCS (60, with -6 62); given twice, sizes are
                  random: from the second one to less than the first
    -b BURST      frames between two looks at the clock (512; 1 for ping)
    -p THREADS    threads that send; they share COUNT and RATE
    -c CPUS       at most the machine's; where threads run is the host's choice
    -R RATE       frames a second of all threads together; k, M and G are thousands of them.
                  Bursts are made smaller then, to 1/300 s or less
    -4, -6        addresses are IPv4 (the default) or IPv6
    -s SRC        source address and port, or a range of both: 10.0.0.1:1000-10.0.0.9:2000.
                  Each frame has the next: first the ports of an address, then the next
                  address, and when the source has come round the destination goes on. Of
                  IPv6, [ADDRESS]:PORT, the last 16 bits count, or another GROUP@ of them
    -d DST        destination, likewise
    -z, -Z        random source, destination
    -S MAC        source station, or a range MAC-MAC (the interface's own)
    -D MAC        destination station, or a range (ff:ff:ff:ff:ff:ff)
    -F FRAGMENTS  mbufs that a frame is in; with more than one the first holds the headers
    -q            give each flow a hash, by which it gets a queue
    -u            count what the interface refuses as lost; else it is sent again
    -w SECONDS    how long the link may take to come up (5)
    -W            rx: end when nothing was received for a second, once something was
    -T MS         milliseconds between reports (1000), 0 for none
    -A            reports have mean and deviation of the last 15 rates
    -B            reports count FCS, preamble and gap of a frame: 24 bytes
    -N            numbers without K, M and G
    -v            tell the ranges
    -o json       print the result as JSON, with the names of docs/control.md. -o NUMBER is
                  pkt-gen's: 512 for -z, 1024 for -Z, 2048 for -A
    -h            show the usage

Other options of pkt-gen's are netmap's, and refused. A socket is named with --socket, in
front, since -S is a station.

Reports go to standard error, results to standard output, as pkt-gen's do. An interrupt
ends the run, and the result is printed. One run at a time sends from an interface, and one
receives; ping and pong do both.

The exit status is 0, or 1 with the reason: for what makes no sense, an interface that is
down or goes away, or frames that got stuck.`,
		Example: `  ifsim pktgen -i em0 -f tx -n 1000000 -l 64
  ifsim pktgen -i em0 -f tx -R 10k -p 2 -d 10.1.0.1:2000-10.1.0.250:2009 -q
  ifsim pktgen -i em1 -f rx -W -o json
  ifsim pktgen -i em1 -f pong & ifsim pktgen -i em0 -f ping -n 1000`,
	}, ctl.CommandPktgen)
	cmd.Flags().Lookup("socket").Shorthand = "" // -S is a station
	return cmd
}
