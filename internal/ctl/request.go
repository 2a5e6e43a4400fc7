package ctl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/ifsim/ifsim/client"
)

// Commands of a request.
const (
	CommandSysctl   = "sysctl"   // sysctl(8) with Args
	CommandKenv     = "kenv"     // kenv(1) with Args
	CommandDevctl   = "devctl"   // devctl(8) with Args
	CommandDevinfo  = "devinfo"  // devinfo(8) with Args
	CommandPciconf  = "pciconf"  // pciconf(8) with Args
	CommandDmesg    = "dmesg"    // dmesg(8) with Args
	CommandDump     = "dump"     // rings, registers and packet buffers, with Args
	CommandIfconfig = "ifconfig" // ifconfig(8) with Args
	CommandNetstat  = "netstat"  // netstat(8) with Args
	CommandRoute    = "route"    // route(8) with Args
	CommandARP      = "arp"      // arp(8) with Args
	CommandNDP      = "ndp"      // ndp(8) with Args
	CommandPfctl    = "pfctl"    // pfctl(8) with Args
	CommandTop      = "top"      // reports of queues and CPUs, with Args
	CommandTcpdump  = "tcpdump"  // tcpdump(1) with Args, which name no files
	CommandVmstat   = "vmstat"   // vmstat(8) with Args
	CommandPktgen   = "pktgen"   // pkt-gen(8) with Args, or as Pktgen says
)

// maxHeld bounds what is kept of all clients' output until they take it, in bytes.
const maxHeld = 64 << 20

// errCut is a tool's output that was not kept to its end.
var errCut = fmt.Errorf("output longer than %d bytes, or %d bytes are kept for all clients already", client.MaxOutput, maxHeld)

// decode reads a request of one line. What it does not know is an error, so that a
// misspelt field is not ignored.
func decode(line []byte) (Request, error) {
	var req Request
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return req, errors.New("request is not a JSON object")
		}
		return req, fmt.Errorf("request is not understood: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return req, errors.New("more than one JSON value in a request")
	}
	_, isTool := tools[req.Command]
	switch {
	case req.Version != 0 && req.Version != client.Version:
		return req, fmt.Errorf("version %d of the protocol is not spoken here, %d is", req.Version, client.Version)
	case isTool && req.Command != CommandPktgen && req.Pktgen != nil:
		return req, fmt.Errorf("parameters of pktgen in a request for %s", req.Command)
	case req.Pktgen != nil && len(req.Args) > 0:
		return req, errors.New("arguments beside the parameters of pktgen")
	case !isTool:
		return req, fmt.Errorf("unknown command %q", req.Command)
	}
	return req, nil
}

// output keeps what a tool prints up to client.MaxOutput, and up to maxHeld of all outputs.
type output struct {
	bytes.Buffer
	held *atomic.Int64 // bytes of all outputs
	cut  bool
}

func (o *output) Write(p []byte) (int, error) {
	n := min(len(p), client.MaxOutput-o.Len())
	if o.held.Add(int64(n)) > maxHeld {
		o.held.Add(-int64(n))
		n = 0
	}
	o.Buffer.Write(p[:n])
	o.cut = o.cut || n < len(p)
	return len(p), nil
}

// drop forgets what was kept.
func (o *output) drop() {
	o.held.Add(-int64(o.Len()))
	o.Reset()
}
