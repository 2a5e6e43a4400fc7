package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestWriteText(t *testing.T) {
	var b strings.Builder
	if err := WriteText(&b, traced()); err != nil {
		t.Fatal(err)
	}
	const want = `10.000000000 test:em0:drain-entry q1 budget=64
10.000001500 test:em0:encap q0 pidx=5 nsegs=2
10.000003000 test:em1:encap pidx=7 nsegs=8 arg2=9 # read "DD"
10.000004500 test:em0:drain-return q1 arg0=0
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	events := append(traced(), Event{ID: 1 << 30, Queue: -1})
	if err := WriteJSON(&b, events); err != nil {
		t.Fatal(err)
	}
	const want = `{"seq":1,"time_ns":10000000000,"provider":"test","module":"em0","name":"drain-entry","queue":1,"args":{"budget":64}}
{"seq":2,"time_ns":10000001500,"provider":"test","module":"em0","name":"encap","queue":0,"args":{"pidx":5,"nsegs":2}}
{"seq":3,"time_ns":10000003000,"provider":"test","module":"em1","name":"encap","args":{"pidx":7,"nsegs":8,"arg2":9},"note":"read \"DD\""}
{"seq":4,"time_ns":10000004500,"provider":"test","module":"em0","name":"drain-return","queue":1,"args":{"arg0":0}}
{"seq":0,"time_ns":0,"provider":"unknown","module":"","name":"1073741824"}
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func TestWritePerfetto(t *testing.T) {
	var b bytes.Buffer
	if err := WritePerfetto(&b, traced()); err != nil {
		t.Fatal(err)
	}
	const want = `{"displayTimeUnit":"ns","traceEvents":[
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"em0"}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"queue 1"}},
{"name":"drain","cat":"test","ph":"B","ts":10000000.000,"pid":1,"tid":2,"args":{"budget":64}},
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"queue 0"}},
{"name":"encap","cat":"test","ph":"i","s":"t","ts":10000001.500,"pid":1,"tid":1,"args":{"pidx":5,"nsegs":2}},
{"name":"process_name","ph":"M","pid":2,"tid":0,"args":{"name":"em1"}},
{"name":"thread_name","ph":"M","pid":2,"tid":0,"args":{"name":"device"}},
{"name":"encap","cat":"test","ph":"i","s":"t","ts":10000003.000,"pid":2,"tid":0,"args":{"pidx":7,"nsegs":8,"arg2":9,"note":"read \"DD\""}},
{"name":"drain","cat":"test","ph":"E","ts":10000004.500,"pid":1,"tid":2,"args":{"arg0":0}}
]}
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	if !json.Valid(b.Bytes()) {
		t.Error("not JSON")
	}
	b.Reset()
	if err := WritePerfetto(&b, nil); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("empty trace %q: %v", b.String(), err)
	}
}

func TestWritersReportErrors(t *testing.T) {
	for name, write := range map[string]func(io.Writer, []Event) error{
		"text": WriteText, "json": WriteJSON, "perfetto": WritePerfetto,
	} {
		events := make([]Event, 100) // more than a buffer
		if err := write(iotest.TruncateWriter(failing{}, 0), events); err != nil {
			t.Errorf("%s to a writer that takes everything: %v", name, err)
		}
		if err := write(failing{}, events); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v, want the writer's error", name, err)
		}
	}
}

// failing refuses every write.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
