// Package tcpdump8 is tcpdump(1): it shows the packets that pass an interface of a running
// machine, or those of a capture file.
//
// Captures run in the machine: package bpf's listeners take packets off an interface's
// taps, filters of [pcapfilter] choose, and what is written is what package netdissect
// makes of a packet, or pcapng. A client that takes its output slowly makes the listener's
// buffers fill up; what finds no room is counted, as with bpf(4), and nothing waits for it.
// Files are the client's affair: it gives the machine -w -, and reads -r FILE itself.
package tcpdump8
