package ctl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Commands of a request.
const (
	CommandSysctl   = "sysctl"   // sysctl(8) with Args
	CommandKenv     = "kenv"     // kenv(1) with Args
	CommandDevctl   = "devctl"   // devctl(8) with Args
	CommandDmesg    = "dmesg"    // dmesg(8) with Args
	CommandIfconfig = "ifconfig" // ifconfig(8) with Args
	CommandNetstat  = "netstat"  // netstat(8) with Args
	CommandPfctl    = "pfctl"    // pfctl(8) with Args
	CommandVmstat   = "vmstat"   // vmstat(8) with Args
	CommandPktgen   = "pktgen"   // send frames as Pktgen says
)

// Version is the version of the protocol, of requests and replies. It goes up when a client
// of the version before would misunderstand something; fields may be added without.
const Version = 1

// MaxRequest is the longest request in bytes, with its newline.
const MaxRequest = 64 << 10

const (
	// maxOutput bounds what a tool may print, each of stdout and stderr, in bytes.
	maxOutput = 8 << 20
	// maxHeld bounds what is kept of all clients' output until they take it, in bytes.
	maxHeld = 64 << 20
)

// errCut is a tool's output that was not kept to its end.
var errCut = fmt.Errorf("output longer than %d bytes, or %d bytes are kept for all clients already", maxOutput, maxHeld)

// Request is what a client asks for.
type Request struct {
	// Version is the version that the client speaks; 0 is taken for the machine's.
	Version int      `json:"version,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"` // behind the command's name
	// Dir is the client's working directory, where the files of sysctl -f and pfctl -f are looked for.
	Dir    string        `json:"dir,omitempty"`
	Pktgen *PktgenParams `json:"pktgen,omitempty"`
	// Partial gets the replies before the last one; nil: they are lost. Of a client only.
	Partial func(Reply) `json:"-"`
}

// Reply is the answer, or with More a part of it: the output so far, after which
// another Reply comes. With Error the request was not carried out, or not to its end;
// the rest is as far as it came. Stdout and Stderr are base64 in JSON, as sysctl -b
// prints bytes.
type Reply struct {
	Version int           `json:"version"`
	Stdout  []byte        `json:"stdout,omitempty"`
	Stderr  []byte        `json:"stderr,omitempty"`
	Exit    int           `json:"exit"`
	Pktgen  *PktgenResult `json:"pktgen,omitempty"`
	Error   string        `json:"error,omitempty"`
	More    bool          `json:"more,omitempty"`
	// Again is a refusal for want of a place: nothing was done, and a later try may succeed.
	Again bool `json:"again,omitempty"`
}

// errTooLong is a request without a newline in MaxRequest bytes.
var errTooLong = fmt.Errorf("request longer than %d bytes", MaxRequest)

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
	case req.Version != 0 && req.Version != Version:
		return req, fmt.Errorf("version %d of the protocol is not spoken here, %d is", req.Version, Version)
	case isTool && req.Pktgen != nil:
		return req, fmt.Errorf("parameters of pktgen in a request for %s", req.Command)
	case req.Command == CommandPktgen && req.Pktgen == nil:
		return req, errors.New("pktgen without parameters")
	case !isTool && req.Command != CommandPktgen:
		return req, fmt.Errorf("unknown command %q", req.Command)
	}
	return req, nil
}

// output keeps what a tool prints up to maxOutput, and up to maxHeld of all outputs.
type output struct {
	bytes.Buffer
	held *atomic.Int64 // bytes of all outputs
	cut  bool
}

func (o *output) Write(p []byte) (int, error) {
	n := min(len(p), maxOutput-o.Len())
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
