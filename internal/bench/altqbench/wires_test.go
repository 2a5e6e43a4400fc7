package altqbench

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/nstest"
)

// A moment on a wire: everybody counts the same frames, whatever the host is busy with.
// How fast they come is for longer runs.
func TestWireCountsWhatALTQCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("real time")
	}
	res := runWires(t, Options{Duration: 200 * time.Millisecond, NICs: []string{"igb"}, Disciplines: []string{"cbq"}})
	report(t, res, Differing, DifferBy, Frames)
	const runs, figures = 2, 9
	if len(res.Rows) != runs*figures {
		t.Errorf("%d figures, want %d", len(res.Rows), runs*figures)
	}
	for _, r := range res.Rows {
		if r.Class == "txq0" && r.Measured == 0 {
			t.Errorf("%s: nothing was sent", r.Where)
		}
	}
	if len(res.Panels) != 1 || len(res.Panels[0].Series) != 2 {
		t.Errorf("panels %+v", res.Panels)
	}
}

func TestRunsOnWires(t *testing.T) {
	var got []string
	for _, r := range wireRunsOf(t, Options{}) {
		got = append(got, r.where()+" "+r.s.discipline)
	}
	const want = `em0 prefer_mpring=1 priq
em0 prefer_mpring=1 cbq
em0 prefer_mpring=1 hfsc
em0 prefer_mpring=1 fairq
em0 prefer_mpring=1 codel
em0 prefer_mpring=1 red
em0 prefer_mpring=1 rio
em0 prefer_mpring=0 priq
em0 prefer_mpring=0 cbq
em0 prefer_mpring=0 hfsc
igb0 prefer_mpring=1 priq
igb0 prefer_mpring=1 cbq
igb0 prefer_mpring=1 hfsc
igb0 prefer_mpring=0 priq
igb0 prefer_mpring=0 cbq
igb0 prefer_mpring=0 hfsc`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("runs are\n%s\nwant\n%s", text, want)
	}
}

func TestRulesGiveEachFlowItsQueue(t *testing.T) {
	s := &wires()[0]
	const want = `altq on igb0 priq bandwidth 10Mb queue { hi, lo }
queue hi priority 7 qlimit 300
queue lo priority 1 qlimit 300 priq(default)
pass out on igb0 inet proto udp to any port 1000 queue hi
pass out on igb0 inet proto udp to any port 1001 queue lo
`
	if got := s.rules("igb0"); got != want {
		t.Errorf("rules are\n%s\nwant\n%s", got, want)
	}
	codel := scenario{config: codelConfig, flows: []flow{{name: "line"}}}
	if got := codel.rules("em0"); got != strings.Replace(codelConfig, "IF", "em0", 1) {
		t.Errorf("rules of CoDel are\n%s", got)
	}
}

// A host that gives no namespace is no error: what needs one is skipped, and the result
// says why.
func TestHostWithoutNamespacesSkips(t *testing.T) {
	if !nstest.Inside(t) {
		return
	}
	// A limit of this process's own user namespace.
	if err := os.WriteFile("/proc/sys/user/max_net_namespaces", []byte("0"), 0); err != nil {
		nstest.Unavailable(t, "%v", err)
	}
	res, err := Run(t.Context(), Options{Only: OnlyWires, Disciplines: []string{"priq"}}, []string{os.Args[0], WireCommand})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 4
	if len(res.Rows) != runs || res.Off() != 0 || res.Rows[0].Verdict != VerdictSkipped {
		t.Errorf("%+v", res.Rows)
	}
	if !strings.HasPrefix(res.Skipped, "no user and network namespaces: ") {
		t.Errorf("skipped: %q", res.Skipped)
	}
}

func TestParentHearsTheChild(t *testing.T) {
	for _, c := range []struct {
		said     string
		progress int
		ok       bool
	}{
		{`{"done":1,"total":2}{"done":2,"total":2}{"result":{"rows":null,"panels":null}}PASS`, 2, true},
		{`{"error":"no"}`, 0, true},
		{`{"done":1,"total":2}`, 1, true},
		{`{"done":1,"total":2} panic: x`, 1, false},
		{"", 0, true},
	} {
		n := 0
		o := Options{Progress: func(string, int, int) { n++ }}
		var last message
		if err := hear(io.NopCloser(strings.NewReader(c.said)), &o, &last); (err == nil) != c.ok || n != c.progress {
			t.Errorf("%s: %v after %d", c.said, err, n)
		}
	}
}

func TestChildSaysWhatIsWrong(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(t.Context(), strings.NewReader(`{"disciplines":["wfq"]}`), &out); err != nil {
		t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(out.Bytes(), &m); err != nil || m.Result != nil || !strings.HasPrefix(m.Error, `no discipline "wfq"`) {
		t.Errorf("%v %+v", err, m)
	}
	if err := Serve(t.Context(), strings.NewReader("x"), &out); err == nil {
		t.Error("options that are no JSON are taken")
	}
}
