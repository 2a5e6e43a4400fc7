package altqbench

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	var b strings.Builder
	res := fixed()
	if err := res.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	const want = `simulated
DISCIPLINE  SCENARIO  CLASS  WHAT          EXPECTED    MEASURED  DEVIATION  VERDICT
priq        two       hi     rate Mb/s     4 ± 0.02    4.010     +0.25%     ok
priq        two       hi     lost %        0           0.500     +0.5       OFF
codel       one       line   mean wait ms  5 to 7.500  6         -          ok

em0 prefer_mpring=1
DISCIPLINE  SCENARIO  CLASS  WHAT         EXPECTED      MEASURED  DEVIATION  VERDICT
cbq         x         all    bytes above  at most 6000  7000      -          OFF
hfsc        y         all    rate Mb/s    -             -         -          skipped

Not measured on wires: no veth.

2 of 4 figures are as expected.
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestJSONGoesBothWays(t *testing.T) {
	var b bytes.Buffer
	res := fixed()
	if err := res.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("where discipline scenario class quantity theory low high measured deviation verdict skipped panels mbps") {
		if !bytes.Contains(b.Bytes(), []byte(`"`+key+`":`)) {
			t.Errorf("no %s", key)
		}
	}
	var back Result
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(res, back); d != "" {
		t.Errorf("(-written +read):\n%s", d)
	}
}

func TestFigureOnTheEdgeIsNotOff(t *testing.T) {
	for measured, want := range map[float64]Verdict{3.98: VerdictOK, 4.02: VerdictOK, 3.97: VerdictOff, 4.03: VerdictOff} {
		if r := (Row{Expected: Range{Low: 3.98, High: 4.02}, Measured: measured}).compare(); r.Verdict != want {
			t.Errorf("%v: %s, want %s", measured, r.Verdict, want)
		}
	}
}

func TestPictureIsBothOrWhatItsNameSays(t *testing.T) {
	dir := t.TempDir()
	res := fixed()
	for i := range 2 { // a panel alone in its row, too
		for range i * 2 {
			res.Panels = append(res.Panels, res.Panels[0])
		}
		if err := res.Draw(filepath.Join(dir, "both")); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "both.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 907 || size.Y != 416 {
		t.Errorf("the picture is %v", size)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "both.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"simulated, priq: two", ">hi<", ">lo<", ">Mb/s<"} {
		if !bytes.Contains(svg, []byte(text)) {
			t.Errorf("no %q in the SVG", text)
		}
	}
	if err := res.Draw(filepath.Join(dir, "one.SVG")); err != nil {
		t.Error(err)
	}
	if err := res.Draw("one.gif"); err == nil || err.Error() != "one.gif: pictures are .png or .svg" {
		t.Error(err)
	}
	if err := (&Result{}).Draw("none"); err == nil || err.Error() != "nothing to draw" {
		t.Error(err)
	}
}
