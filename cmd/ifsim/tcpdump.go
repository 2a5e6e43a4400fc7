package main

import (
	"context"
	"io"
	"os"

	"github.com/ifsim/ifsim/internal/ctl"
	"github.com/ifsim/ifsim/internal/ctl/tcpdump8"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/spf13/cobra"
)

func tcpdumpCommand() *cobra.Command {
	cmd := toolCommand(&cobra.Command{
		Use:   "tcpdump [--socket SOCKET] [-AdDeKLpqStvxX#] [-i INTERFACE] [-c COUNT] [-s SNAPLEN] [-Q in|out|inout] [-B SIZE] [-F FILE] [-r FILE] [-w FILE] [EXPRESSION]",
		Short: "show the packets that pass an interface of a running machine, as tcpdump(1)",
		Long: `Shows the packets that an interface sends and receives, or those of a capture file. Packets
are tapped as bpf(4) does it: what is sent is seen once, when it is given to the hardware,
with checksums that the hardware is to fill in as they are; a VLAN tag that the hardware puts
in or takes out is shown in the frame.

    -i INTERFACE  interface, or its number of -D; left out: the first that is up
    -c COUNT      end after COUNT packets
    -Q DIRECTION  in, out or inout
    -p            leave promiscuous mode alone; else the interface is in it meanwhile
    -s SNAPLEN    bytes kept of a packet (262144, which is all)
    -B SIZE       KiB of each of the two buffers (512; at most net.bpf.maxbufsize)
    -D            list the interfaces
    -L, -y TYPE   list the data link types, choose one: there is EN10MB only

    -t            no time; -tt seconds since 1970; -ttt since the packet before; -tttt with
                  the date; -ttttt since the first packet
    -e            the Ethernet header too
    -v, -vv       more of the headers, and whether checksums are right
    -q            less of them
    -S            TCP's sequence numbers as they are, not relative
    -K            leave checksums alone
    -x, -xx       dump packets in hex, with -xx the Ethernet header too
    -X, -XX       likewise, with the characters beside it
    -A, -AA       the characters only
    -#            number the packets

    -w FILE       write packets to FILE instead, in pcapng, with times in nanoseconds; - is
                  standard output
    -r FILE       read packets from FILE, pcap or pcapng, - is standard input. No machine is
                  needed
    -F FILE       take the expression from FILE
    -d            print the program that the expression is compiled to; -dd as C, -ddd as
                  numbers

Accepted without effect: -b, -f, -n, -N, since addresses and ports are never translated to
names; -l, -U, since output is sent as it comes; -O, -u. A socket is named with --socket, in
front, since -S is about sequence numbers.

The EXPRESSION is pcap-filter(7)'s: host, net, port and portrange with src and dst; proto, ip,
ip6, arp, rarp, tcp, udp, sctp, icmp, icmp6, igmp and others; ether host, ether proto,
broadcast, multicast; vlan; less, greater, len; packet data as in tcp[tcpflags] & tcp-syn !=
0; and, or, not and parentheses. And and or bind alike, from the left; what follows vlan is
looked for behind the tag. Names of hosts are not known. What is not supported is refused by
name.

Packets come as fast as the machine makes them. What the buffers have no room for, since the
client does not take its output, is lost and counted as dropped by kernel; the machine does
not wait. An interrupt ends the capture, and the counts are printed.

The exit status is 0, or 1 with the reason; 1 too if the interface disappears.`,
		Example: `  ifsim tcpdump -i em0
  ifsim tcpdump -i em0 -nevv -c 10 'arp or icmp'
  ifsim tcpdump -i em0 -Q out -w em0.pcapng tcp port 80
  ifsim tcpdump -r em0.pcapng -X 'tcp[tcpflags] & (tcp-syn|tcp-fin) != 0'`,
	}, ctl.CommandTcpdump)
	cmd.Flags().Lookup("socket").Shorthand = "" // -S is about sequence numbers
	live := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if helpAsked(args) {
			return cmd.Help()
		}
		return tcpdump(cmd, args, live)
	}
	return cmd
}

// tcpdump does what is the client's with files, and lets live do the rest.
func tcpdump(cmd *cobra.Command, args []string, live func(*cobra.Command, []string) error) error {
	_, own, err := leadingSocket(args, true)
	if err != nil {
		return err
	}
	files, err := tcpdump8.FilesOf(own)
	if err != nil {
		return exitCode(tool.Exit("tcpdump", err, cmd.ErrOrStderr()))
	}
	switch {
	case files.Read != "":
		return readCapture(cmd, own)
	case files.Write == "" || files.Write == "-":
		return live(cmd, args)
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	out := &captureFile{name: files.Write, failed: cancel}
	cmd.SetContext(ctx)
	cmd.SetOut(out)
	err = live(cmd, append(args[:len(args)-len(own):len(args)-len(own)], files.Remote...))
	if cerr := out.close(); cerr != nil {
		return exitCode(tool.Exit("tcpdump", tcpdump8.FileError(files.Write, cerr), cmd.ErrOrStderr()))
	}
	return err
}

// readCapture is tcpdump -r.
func readCapture(cmd *cobra.Command, args []string) error {
	exit := tcpdump8.RunFile(args, tcpdump8.FileIO{
		Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
		Open:   func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Create: func(name string) (io.WriteCloser, error) { return os.Create(name) },
	})
	if exit != 0 {
		return exitCode(exit)
	}
	return nil
}

// captureFile is the file of -w, which is made when there is something to write. Its first
// error ends the capture.
type captureFile struct {
	name   string
	failed func()
	file   *os.File
	err    error
}

func (c *captureFile) Write(b []byte) (n int, err error) {
	if len(b) == 0 || c.err != nil {
		return len(b), c.err
	}
	if c.file == nil {
		c.file, c.err = os.Create(c.name)
	}
	if c.err == nil {
		n, c.err = c.file.Write(b)
	}
	if c.err != nil {
		c.failed()
	}
	return n, c.err
}

// close closes the file and returns the first error.
func (c *captureFile) close() error {
	if c.file == nil {
		return c.err
	}
	if err := c.file.Close(); c.err == nil {
		c.err = err
	}
	return c.err
}
