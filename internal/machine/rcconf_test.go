package machine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ifsim/ifsim/internal/machine"
)

func TestRCConfIsReadAsTheShellReadsIt(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  map[string]string
		warns []string
	}{
		"plain, quoted, commented": {"a=1\nb=\"two words\" # c=3\n# d=4\ne='single $x \\'\n", map[string]string{"a": "1", "b": "two words", "e": `single $x \`}, nil},
		"last line counts":         {"a=1\na=2", map[string]string{"a": "2"}, nil},
		"several to a line":        {"a=1 b=2; c=3 & d=4\n", map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}, nil},
		"over lines":               {"a=\"1\n2\"\nb=x\\\ny\nc=\"p\\\nq\"\n", map[string]string{"a": "1\n2", "b": "xy", "c": "pq"}, nil},
		"quotes inside a word":     {`a=b"c d"'e f'\ g#h` + "\n", map[string]string{"a": "bc de f g#h"}, nil},
		"escapes":                  {`a="\$x \"q\" \\ \n"` + "\n" + `b=\$x` + "\n", map[string]string{"a": `$x "q" \ \n`, "b": "$x"}, nil},
		"expansion":                {"a=1\nb=\"$a ${a}2 $none ${none}\"\nc='$a'\nd=$a$a\ne=$\n", map[string]string{"a": "1", "b": "1 12  ", "c": "$a", "d": "11", "e": "$"}, nil},
		"defaults":                 {"e=\na=${none:-x}${e:-y}${e-z}${none+u}${e:+v}${e+w}\n", map[string]string{"e": "", "a": "xyw"}, nil},
		"appending":                {"a=1\na=\"${a} 2\"\na+=\" 3\"\nb+=4\n", map[string]string{"a": "1 2 3", "b": "4"}, nil},
		"export":                   {"export a=1\n", map[string]string{"a": "1"}, nil},
		"empty":                    {"a=\nb=\"\"\n", map[string]string{"a": "", "b": ""}, nil},
		"not a name":               {"1a=2\na-b=3\n", nil, []string{"f:1: 1a=2: not run", "f:2: a-b=3: not run"}},
		"commands are not run":     {"a=1 ls -l\n. /etc/x\nif true; then b=2; fi\nc=3\n", map[string]string{"c": "3"}, []string{"f:1: ls: not run", "f:2: .: not run", "f:3: if: not run", "f:3: then: not run", "f:3: fi: not run"}},
		"substitution is not done": {"a=x`ls \"`y\nb=x$(ls (a) b)y\nc=${a%x}z\n", map[string]string{"a": "xy", "b": "xy", "c": "z"}, []string{"f:1: command substitution: not run", "f:2: command substitution: not run", "f:3: Bad substitution: ${a%x}"}},
		"quote without an end":     {"a=1\nb=\"x\nc=2\n", map[string]string{"a": "1"}, []string{"f:2: Syntax error: Unterminated quoted string"}},
		"carriage returns":         {"a=1\r\nb=\"2\"\r\n", map[string]string{"a": "1", "b": "2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rc := machine.NewRCConf()
			warns, err := rc.Read("f", strings.NewReader(c.text))
			must(t, err)
			got := map[string]string{}
			for _, v := range rc.Names() {
				got[v], _ = rc.Get(v)
			}
			if c.want == nil {
				c.want = map[string]string{}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
			if !slices.Equal(warns, c.warns) {
				t.Errorf("warnings %q, want %q", warns, c.warns)
			}
		})
	}
}

func TestRCConfKnowsWhereAndYes(t *testing.T) {
	rc := machine.NewRCConf()
	for _, f := range [...][2]string{{"one", "a=\"x\ny\" \nb=YES\n"}, {"two", "\n\na=on\nc=no\n"}} {
		_, err := rc.Read(f[0], strings.NewReader(f[1]))
		must(t, err)
	}
	if a, b := rc.Where("a"), rc.Where("b"); a != "two:3" || b != "one:3" {
		t.Errorf("a at %s, b at %s", a, b)
	}
	if !rc.Yes("a") || !rc.Yes("b") || rc.Yes("c") || rc.Yes("none") {
		t.Error("a and b are yes, c and none are not")
	}
}

func TestRCConfValuesAreBounded(t *testing.T) {
	rc := machine.NewRCConf()
	text := "a=xxxxxxxx\n" + strings.Repeat("a=\"$a$a\"\n", 40) + strings.Repeat("a+=$a\n", 4)
	warns, err := rc.Read("f", strings.NewReader(text))
	must(t, err)
	if v, _ := rc.Get("a"); len(v) > 64<<10 || len(v) < 32<<10 {
		t.Errorf("value of %d bytes", len(v))
	}
	if len(warns) == 0 || warns[0] != "f:15: value of more than 65536 bytes" {
		t.Errorf("warnings %q", warns)
	}
}

// quote writes a value as sh would read it back, in one of three ways.
func quote(t *rapid.T, s string) string {
	switch rapid.IntRange(0, 2).Draw(t, "style") {
	case 0:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	case 1:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s) + `"`
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if c == '\n' {
			b.WriteString("'\n'")
			continue
		}
		b.WriteByte('\\')
		b.WriteByte(c)
	}
	return b.String()
}

func TestRCConfQuotingRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type setting struct {
			name, value string
			more        bool
		}
		gen := rapid.Custom(func(t *rapid.T) setting {
			return setting{rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,3}`).Draw(t, "name"), rapid.String().Draw(t, "value"), rapid.Bool().Draw(t, "more")}
		})
		want := map[string]string{}
		var text strings.Builder
		for _, s := range rapid.SliceOf(gen).Draw(t, "settings") {
			op := "="
			if s.more {
				op = "+="
				want[s.name] += s.value
			} else {
				want[s.name] = s.value
			}
			text.WriteString(s.name + op + quote(t, s.value) + rapid.SampledFrom([]string{"\n", " ", ";", " # comment\n", "\\\n  "}).Draw(t, "separator"))
		}
		rc := machine.NewRCConf()
		warns, err := rc.Read("f", strings.NewReader(text.String()))
		if err != nil || len(warns) != 0 {
			t.Fatalf("%v, %q for %q", err, warns, text.String())
		}
		for name, v := range want {
			if got, ok := rc.Get(name); !ok || got != v {
				t.Fatalf("%s is %q, want %q, of %q", name, got, v, text.String())
			}
		}
		if len(rc.Names()) != len(want) {
			t.Fatalf("variables %q, want %d", rc.Names(), len(want))
		}
	})
}

func FuzzRCConf(f *testing.F) {
	for _, s := range []string{
		"ifconfig_em0=\"inet 198.18.0.1/24 -tso4 up\"\n", "a='x\ny' b=${a:-z} # c\n", "a+=\"$a$(b (c))\"`d`\n", "export a=1; . /x\n", "a=\"", "a=${", "a=$(", "a=`", "\\\n=", "a=\\",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rc := machine.NewRCConf()
		warns, err := rc.Read("f", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(text, "\n") + 1; len(rc.Names()) > len(text) || len(warns) > len(text)+1 {
			t.Errorf("%d variables, %d warnings of %d lines", len(rc.Names()), len(warns), n)
		}
		for _, v := range rc.Names() {
			if value, ok := rc.Get(v); !ok || v == "" || len(value) > 64<<10 || rc.Where(v) == "" {
				t.Errorf("variable %q of %d bytes at %q", v, len(value), rc.Where(v))
			}
		}
	})
}
