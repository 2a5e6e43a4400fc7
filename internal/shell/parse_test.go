package shell_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/internal/shell"
	"pgregory.net/rapid"
)

// list writes commands as "; a b |host" with words in brackets, the status as 7.
func list(cs []shell.Command) string {
	var b strings.Builder
	for _, c := range cs {
		b.WriteString(string(c.Join))
		for _, w := range c.Words {
			b.WriteString("[" + w.Expand(7) + "]")
		}
		if c.Host != "" {
			b.WriteString(" to " + c.Host)
		}
	}
	return b.String()
}

func TestLinesAreTakenApartAsShDoes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", ""},
		{"  # nothing", ""},
		{"sysctl -n kern.ostype", ";[sysctl][-n][kern.ostype]"},
		{"a#b #c", ";[a#b]"},
		{"kenv 'a b=1 $? \\'", `;[kenv][a b=1 $? \]`},
		{`kenv "a b=$?\"\\\n` + "\\`" + `"`, `;[kenv][a b=7"\\n` + "`]"},
		{`kenv a\ b\$?c$?d"$?"''`, `;[kenv][a b$?c7d7]`},
		{"a;b && c||d;", ";[a];[b]&&[c]||[d]"},
		{"'' \"\"", ";[][]"},
		{"price 5$ $", ";[price][5$][$]"},
		{"sysctl -a | grep 'x;y' | wc -l; b", ";[sysctl][-a] to grep 'x;y' | wc -l;[b]"},
		{"dmesg >a\\;b && c", ";[dmesg] to cat >a\\;b&&[c]"},
		{"dmesg >> a 2>&1", ";[dmesg] to cat >> a 2>&1"},
		{"a | b || c", ";[a] to b||[c]"},
	} {
		got, err := shell.Parse(c.line)
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
		}
		if d := cmp.Diff(c.want, list(got)); d != "" {
			t.Errorf("%q:\n%s", c.line, d)
		}
	}
}

func TestLinesThatShDoesNotUnderstand(t *testing.T) {
	for line, want := range map[string]string{
		"a 'b":     "Unterminated quoted string",
		`a "b\"`:   "Unterminated quoted string",
		"a | 'b":   "Unterminated quoted string",
		";":        `";" unexpected`,
		"a ;; b":   `";" unexpected`,
		"&& a":     `"&&" unexpected`,
		"a && || ": `"||" unexpected`,
		"a &&":     "newline unexpected",
		"| a":      `"|" unexpected`,
		"a |":      `"|" unexpected`,
		"a | ; b":  `"|" unexpected`,
		"a &":      "& is not known here",
		"a < b":    "< is not known here",
		"(a)":      "( is not known here",
		"a $HOME":  "$H is not known here",
		"a `b`":    "` is not known here",
		"a \\":     "nothing follows a backslash",
	} {
		got, err := shell.Parse(line)
		if err == nil || err.Error() != "Syntax error: "+want {
			t.Errorf("%q: %s, %v; want %s", line, list(got), err, want)
		}
	}
}

// Whatever a word is, between quotes it comes through.
func TestQuotedWordsComeThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab \\\"$?`;&|<>#*\n"))).Draw(t, "text")
		got, err := shell.Parse("x '" + text + "'")
		if err != nil || len(got) != 1 || len(got[0].Words) != 2 || got[0].Words[1].Expand(0) != text {
			t.Fatalf("%q: %s, %v", text, list(got), err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"a 'b' \"c$?\" && d || e; f | g > h # i", "\\", "a >"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		cs, err := shell.Parse(line)
		for _, c := range cs {
			if err != nil || len(c.Words) == 0 {
				t.Errorf("%q: %s, %v", line, list(cs), err)
			}
		}
	})
}
