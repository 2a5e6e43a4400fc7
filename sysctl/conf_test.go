package sysctl_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/sysctl"
)

func TestLoaderConfForms(t *testing.T) {
	tests := []struct {
		what, text    string
		env, warnings []string
	}{
		{"word and string", "hw.ix.max_interrupt_rate=31250\nb = \"31250\"\n", []string{"hw.ix.max_interrupt_rate=31250", "b=31250"}, nil},
		{"comments and blanks", "# c\n  a=1 # tail\n\t\nb=2\t\n", []string{"a=1", "b=2"}, nil},
		{"empty string", `x=""`, []string{"x="}, nil},
		{"last assignment wins", "a=1\na=2", []string{"a=2"}, nil},
		{"carriage returns", "a=\"1\"\r\nb=2\r\n", []string{"a=1", "b=2"}, nil},
		{"unquoted list", "a=1,2", nil, []string{"Malformed line (1):\n\t'a=1,2'", "Failed to parse config: 'f'"}},
		{"line numbers skip empty lines only", "\n\n \na=/path\nb=\n", nil,
			[]string{"Malformed line (2):\n\t'a=/path'", "Malformed line (3):\n\t'b='", "Failed to parse config: 'f'"}},
		{"single quotes are none", "a='1'", nil, []string{"Malformed line (1):\n\t'a='1''", "Failed to parse config: 'f'"}},
		{"junk behind", `a="1" b`, nil, []string{"Malformed line (1):\n\t'a=\"1\" b'", "Failed to parse config: 'f'"}},
		{"module directives", "if_em_load=\"YES\"\nif_em_flags=\"-x\"\n", nil, nil},
		{"dotted names are variables", "a.b_load=YES", []string{"a.b_load=YES"}, nil},
		{"greedy quote", `a="1" # "2"`, nil, []string{"Failed to parse variable 'a': Stray quote at position '2'"}},
		{"escapes", `a="x\"y\\"`, []string{`a=x"y\`}, nil},
		{"expansion", "v.w=7\na=\"<$v.w|${v.w}|${no}>\"\nb=\"${v.w}x\"", []string{"v.w=7", "a=<7|7|>", "b=7x"}, nil},
		{"trailing escape", `a="x\"`, nil, []string{`Failed to parse variable 'a': Stray escape at end of line`}},
		{"trailing dollar", `a="x$"`, nil, []string{`Failed to parse variable 'a': Unescaped $ at end of line`}},
		{"bad expansion", `a="x$-"`, nil, []string{`Failed to parse variable 'a': Malformed variable expression at position '2'`}},
		{"open brace", `a="${x"`, nil, []string{`Failed to parse variable 'a': Malformed variable expression at position '1'`}},
		{"include list stays out", `loader_conf_files="a b"`, nil, nil},
		{"too long for the kernel", "a=\"" + strings.Repeat("x", 256) + "\"", nil,
			[]string{"WARNING: too long kenv string, ignoring a=" + strings.Repeat("x", 256)}},
	}
	for _, tt := range tests {
		env := sysctl.NewKenv()
		warnings, err := sysctl.ParseLoaderConf("f", strings.NewReader(tt.text), env)
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		if diff := cmp.Diff(append([]string{}, tt.env...), env.All()); diff != "" {
			t.Errorf("%s: environment (-want +got):\n%s", tt.what, diff)
		}
		if diff := cmp.Diff(tt.warnings, warnings); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", tt.what, diff)
		}
	}
}

func TestLoaderFollowsFilesAndDirectories(t *testing.T) {
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"boot/device.hints":           "hint.em.0.at=\"pci0:2:0:0\"",
		"boot/loader.conf":            "a=1\nloader_conf_files=\"/boot/extra.conf /boot/none.conf\"\nexec=\"echo hi\"\nmodule_blacklist=\"if_ix, if_b\"",
		"boot/extra.conf":             "a=2\nloader_conf_files=\"/boot/loader.conf\"\nif_ix_load=YES\nif_em_load=yes\nif_igb_load=NO\nif_b_load=YES\nif_b_name=if_c",
		"boot/loader.conf.d/b.conf":   "b=1",
		"boot/loader.conf.d/a.conf":   "b=2\nc=2",
		"boot/loader.conf.d/skip.txt": "d=1",
		"boot/loader.conf.local":      "c=3",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	env := sysctl.NewKenv()
	l := sysctl.NewLoader(env)
	l.Load(fsys)
	for name, want := range map[string]string{"a": "2", "b": "1", "c": "3", "hint.em.0.at": "pci0:2:0:0"} {
		if got, _ := env.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"if_em", "if_c"}, l.LoadModules()); diff != "" {
		t.Errorf("modules: %s", diff)
	}
	want := []string{"Loading /boot/device.hints", "Loading /boot/loader.conf", "Loading /boot/extra.conf", "Loading /boot/none.conf",
		"Loading /boot/loader.conf.d/a.conf", "Loading /boot/loader.conf.d/b.conf", "Loading /boot/loader.conf.local",
		"Not loading blacklisted module 'if_ix'"}
	if diff := cmp.Diff(want, l.Messages()); diff != "" {
		t.Errorf("messages: %s", diff)
	}
	if diff := cmp.Diff([]string{"echo hi"}, l.Commands()); diff != "" {
		t.Errorf("commands: %s", diff)
	}
}

func TestLoaderKnowsWhereSettingsStand(t *testing.T) {
	fsys := fstest.MapFS{
		"boot/device.hints": {Data: []byte("\n# wired\nhint.em.0.at=\"pci0:2:0:0\"\n")},
		"boot/loader.conf":  {Data: []byte("a=1\nif_em_load=YES\nbad line\nb=\"$\"\nloader_conf_files=\"/boot/more\"\n")},
		"boot/more":         {Data: []byte("\n\na=2")},
	}
	l := sysctl.NewLoader(sysctl.NewKenv())
	l.Load(fsys)
	want := []sysctl.Setting{
		{Name: "hint.em.0.at", File: "/boot/device.hints", Line: 3}, {Name: "a", File: "/boot/loader.conf", Line: 1},
		{Name: "if_em_load", File: "/boot/loader.conf", Line: 2}, {Name: "a", File: "/boot/more", Line: 3},
	}
	got := slices.DeleteFunc(l.Settings(), func(s sysctl.Setting) bool { return s.File == "/boot/defaults/loader.conf" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoaderReadsTheDefaultsFileOfTheMachine(t *testing.T) {
	fsys := fstest.MapFS{
		"boot/defaults/loader.conf": {Data: []byte("loader_conf_files=\"/boot/mine.conf\"\nd=1")},
		"boot/mine.conf":            {Data: []byte("d=2")},
		"boot/loader.conf":          {Data: []byte("e=1")},
	}
	env := sysctl.NewKenv()
	sysctl.NewLoader(env).Load(fsys)
	if diff := cmp.Diff([]string{"d=2"}, env.All()); diff != "" {
		t.Error(diff)
	}
}

func TestLoaderGoesOnAfterWhatItCannotRead(t *testing.T) {
	fsys := fstest.MapFS{"boot/loader.conf": {Data: []byte("loader_conf_files=\"/ /boot /boot/b\"\nloader_conf_dirs=\"/boot/b /none\"")},
		"boot/b": {Data: []byte("b=1")}}
	env := sysctl.NewKenv()
	l := sysctl.NewLoader(env)
	l.Load(fsys)
	if v, _ := env.Get("b"); v != "1" {
		t.Errorf("b = %q, want 1", v)
	}
	want := []string{"Loading /boot/device.hints", "Loading /boot/loader.conf", "Loading /", "Failed to read config: '/'",
		"Loading /boot", "Failed to read config: '/boot'", "Loading /boot/b", "Failed to load conf dir '/boot/b': not a directory",
		"Loading /boot/loader.conf.local"}
	if diff := cmp.Diff(want, l.Messages()); diff != "" {
		t.Error(diff)
	}
}

func TestSysctlConfComments(t *testing.T) {
	text := strings.Join([]string{
		"a=1", "# c", "  b=2  # tail ", "", `c=x\#y # z`, `d="a#b" # tail`, `e="a#b`, `f='a"#"b' # t`, `g=a"#'x`, "h=1\x00junk", "#"}, "\n")
	want := []sysctl.ConfLine{{1, "a=1"}, {3, "b=2"}, {5, `c=x\#y`}, {6, `d="a#b"`}, {7, `e="a#b`}, {8, `f='a"#"b'`}, {9, `g=a"#'x`}, {10, "h=1"}}
	got, err := sysctl.ParseSysctlConf(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLongSysctlConfLineIsReadInPieces(t *testing.T) {
	text := "a=" + strings.Repeat("x", 1021) + "b=1\nc=2\n"
	got, err := sysctl.ParseSysctlConf(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []sysctl.ConfLine{{1, text[:1023]}, {2, "b=1"}, {3, "c=2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReaderErrorsComeBack(t *testing.T) {
	broken := errors.New("broken")
	if _, err := sysctl.ParseSysctlConf(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("sysctl.conf: %v", err)
	}
	if _, err := sysctl.ParseLoaderConf("f", iotest.ErrReader(broken), sysctl.NewKenv()); !errors.Is(err, broken) {
		t.Errorf("loader.conf: %v", err)
	}
}

func FuzzLoaderConf(f *testing.F) {
	f.Add("a=1\nhint.em.0.at=\"pci0:2:0:0\"\nif_em_load=\"YES\"\nexec=\"x\"\n# c\nb=\"$a${a}\\\"\"\nc=\n")
	f.Add("loader_conf_files=\"/boot/loader.conf\"\nx='1'\ny=\"$\"\nz=\"a\" junk")
	f.Fuzz(func(t *testing.T, text string) {
		env := sysctl.NewKenv()
		if _, err := sysctl.ParseLoaderConf("f", strings.NewReader(text), env); err != nil {
			if !errors.Is(err, syscall.EFBIG) {
				t.Error(err)
			}
			return
		}
		for _, entry := range env.All() {
			name, _, ok := strings.Cut(entry, "=")
			if !ok || name == "" || len(entry) > 257 || strings.ContainsAny(name, " \"'#\n") {
				t.Errorf("impossible entry %q", entry)
			}
			if name == "loader_conf_files" {
				t.Error("loader_conf_files reached the environment")
			}
		}
		env.InvalidHints()
		fsys := fstest.MapFS{"boot/loader.conf": {Data: []byte(text)}}
		sysctl.NewLoader(sysctl.NewKenv()).Load(fsys)
	})
}

func FuzzSysctlConf(f *testing.F) {
	f.Add("a=1 # c\nb=\"x#y\" # z\n\n c='#'\\#\n")
	f.Add("#\n\\#\n\"#\n'#'#")
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := sysctl.ParseSysctlConf(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for _, l := range lines {
			if l.Line <= last || l.Arg == "" || l.Arg != strings.Trim(l.Arg, " \t\n\v\f\r") || len(l.Arg) > 1023 ||
				strings.ContainsAny(l.Arg, "\x00\n") || l.Arg[0] == '#' {
				t.Errorf("line %d (after %d): %q", l.Line, last, l.Arg)
			}
			last = l.Line
		}
	})
}
