package client

import "fmt"

// Version is the version of the protocol, of requests and replies. It goes up when a client
// of the version before would misunderstand something; fields may be added without.
const Version = 1

// MaxRequest is the longest request in bytes, with its newline.
const MaxRequest = 64 << 10

// MaxOutput bounds what a tool may print between two replies, each of stdout and stderr,
// in bytes.
const MaxOutput = 8 << 20

// ErrTooLong is a request without a newline in MaxRequest bytes.
var ErrTooLong = fmt.Errorf("request longer than %d bytes", MaxRequest)

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
	// Stop ends what goes on when it is closed: the client gives up, but waits for the last
	// reply, which has what was done; nil: never. Of a client only.
	Stop <-chan struct{} `json:"-"`
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
