package tool_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/internal/ctl/tool"
)

func document(f tool.Format, version string) (string, error) {
	var b strings.Builder
	j := f.NewJSON(&b, version)
	j.Object("statistics", func() {
		j.Field("a", "x<\"\n")
		j.List("interface", func() {
			for _, name := range []string{"em0", "em1"} {
				j.Item(func() {
					j.Field("name", name)
					j.Field("mtu", 1500)
					j.Field("up", true)
				})
			}
		})
		j.List("none", func() {})
		j.List("names", func() {
			j.Value("x")
			j.Value(2)
		})
		j.Field("pair", struct {
			A int `json:"a"`
		}{1})
	})
	j.Object("empty", func() {})
	err := j.Close()
	return b.String(), err
}

func TestJSONIsSpacedAsLibxoDoes(t *testing.T) {
	got, err := document(tool.Format{JSON: true}, "5")
	const want = `{"__version": "5", "statistics": {"a":"x<\"\n", "interface": [{"name":"em0","mtu":1500,"up":true}, {"name":"em1","mtu":1500,"up":true}], ` +
		`"none": [], "names": ["x", 2],"pair":{"a":1}}, "empty": {}}` + "\n"
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestPrettyJSONHasAValueALine(t *testing.T) {
	got, err := document(tool.Format{JSON: true, Pretty: true}, "")
	const want = `{
  "statistics": {
    "a": "x<\"\n",
    "interface": [
      {
        "name": "em0",
        "mtu": 1500,
        "up": true
      },
      {
        "name": "em1",
        "mtu": 1500,
        "up": true
      }
    ],
    "none": [
    ],
    "names": [
      "x",
      2
    ],
    "pair": {
      "a": 1
    }
  },
  "empty": {
  }
}
`
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

var errWrite = errors.New("no room")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errWrite }

func TestJSONTellsOfErrorsAtItsEnd(t *testing.T) {
	j := tool.Format{}.NewJSON(full{}, "")
	j.Flush()
	j.Flush()
	if err := j.Close(); err != errWrite {
		t.Errorf("%v", err)
	}
	j = tool.Format{}.NewJSON(&strings.Builder{}, "")
	j.Field("x", math.NaN())
	if err := j.Close(); err == nil {
		t.Error("no error")
	}
}

func TestEncodeIsADocumentOfItsOwn(t *testing.T) {
	for f, want := range map[tool.Format]string{{}: "[1]\n", {Pretty: true}: "[\n  1\n]\n"} {
		var b strings.Builder
		if err := f.Encode(&b, []int{1}); err != nil || b.String() != want {
			t.Errorf("%+v: %q, %v", f, b.String(), err)
		}
	}
}

func TestFormatIsTakenOffTheArguments(t *testing.T) {
	text, compact, pretty := tool.Format{}, tool.Format{JSON: true}, tool.Format{JSON: true, Pretty: true}
	for _, c := range []struct {
		args, rest string
		want       tool.Format
		err        string
	}{
		{"-i em0", "-i em0", text, ""},
		{"-o json -i", "-i", compact, ""},
		{"-ojson,pretty -i", "-i", pretty, ""},
		{"-i --libxo json,pretty em0", "-i em0", pretty, ""},
		{"--libxo=json,warn,no-humanize -i", "-i", compact, ""},
		{"--libxo:JP -i", "-i", pretty, ""},
		{"--libxo:J,pretty", "", pretty, ""},
		{"--libxo:JT", "", text, ""},
		{"-o lax -i", "-o lax -i", text, ""},
		{"-i -o", "-i -o", text, ""},
		{"-- -o json --libxo", "-- -o json --libxo", text, ""},
		{"-i --libxo", "", text, "missing libxo option"},
		{"--libxo yaml", "", text, "unknown libxo option value: 'yaml'"},
		{"-o json,yaml", "", compact, "unknown libxo option value: 'yaml'"},
		{"--libxo xml", "", text, "--libxo xml: not available"},
		{"--libxo:X", "", text, "--libxo:X: not available"},
		{"--libxo:zJ", "", text, "unknown option: 'zJ'"},
		{"--libxoj", "", text, "unknown libxo option: '--libxoj'"},
	} {
		f, rest, err := tool.TakeFormat(strings.Fields(c.args))
		switch {
		case c.err != "":
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: %v, want %s", c.args, err, c.err)
			}
		case err != nil || f != c.want || strings.Join(rest, " ") != c.rest:
			t.Errorf("%q: %+v %q %v, want %+v %q", c.args, f, rest, err, c.want, c.rest)
		}
	}
}

// FuzzTakeFormat: what is left of the arguments is theirs, in order.
func FuzzTakeFormat(f *testing.F) {
	for _, seed := range []string{"-i -o json", "--libxo=json,pretty em0", "--libxo:JPz", "-o", "-- --libxo", "-ojson,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		_, rest, err := tool.TakeFormat(args)
		if err != nil {
			return
		}
		for _, word := range rest {
			n := slices.Index(args, word)
			if n < 0 {
				t.Fatalf("%q has %q, which %q has not", rest, word, args)
			}
			args = args[n+1:]
		}
	})
}
