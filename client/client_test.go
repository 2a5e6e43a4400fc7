package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/client"
)

func TestToolsRunInTheMachine(t *testing.T) {
	c := booted(t)
	for _, x := range []struct {
		line           string
		stdout, stderr string
		exit           int
		err            string
	}{
		{"sysctl -n kern.ostype", "FreeBSD\n", "", 0, ""},
		{"kenv hint.em.1.port", "pair:t\n", "", 0, ""},
		{"ifconfig em9", "", "ifconfig: interface em9 does not exist\n", 1, "ifconfig: interface em9 does not exist"},
		{"sysctl -n nosuch kern.ostype", "FreeBSD\n", "sysctl: unknown oid 'nosuch'\n", 1, "sysctl: unknown oid 'nosuch'"},
		{"sysctl -n -i nosuch", "", "", 0, ""},
	} {
		args := strings.Fields(x.line)
		r, err := c.Run(t.Context(), args[0], args[1:]...)
		if string(r.Stdout) != x.stdout || string(r.Stderr) != x.stderr || r.Exit != x.exit {
			t.Errorf("%s: %q %q %d", x.line, r.Stdout, r.Stderr, r.Exit)
		}
		exit := (*client.Exit)(nil)
		switch {
		case x.exit == 0 && err != nil, x.exit != 0 && !errors.As(err, &exit):
			t.Errorf("%s: %v", x.line, err)
		case exit != nil && (exit.Command != args[0] || exit.Status != x.exit || exit.Stderr != x.stderr || exit.Error() != x.err):
			t.Errorf("%s: %+v", x.line, exit)
		}
	}
}

func TestAToolThatSaysNothingFailsWithItsStatus(t *testing.T) {
	for stderr, want := range map[string]string{"": "grep: exit status 3", "a: b\nc: d\n": "c: d"} {
		if got := (&client.Exit{Command: "grep", Status: 3, Stderr: stderr}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestVariablesAreReadAndSet(t *testing.T) {
	c := booted(t)
	const name = "net.link.ifqmaxlen"
	if v, err := c.Sysctl(t.Context(), name); v != "50" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	must(t, c.SetSysctl(t.Context(), "net.iflib.min_tx_latency", "1"))
	if v, err := c.Sysctl(t.Context(), "net.iflib.min_tx_latency"); v != "1" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	exit := (*client.Exit)(nil)
	if err := c.SetSysctl(t.Context(), "kern.ostype", "Linux"); !errors.As(err, &exit) || exit.Status != 1 {
		t.Errorf("%v", err)
	}
	if _, err := c.Sysctl(t.Context(), name+"=3"); err == nil {
		t.Error("a setting was taken for a name")
	}
	if v, err := c.Sysctl(t.Context(), "-a"); v != "" || !errors.As(err, &exit) || exit.Stderr != "sysctl: unknown oid '-a'\n" {
		t.Errorf("a flag was taken for a name: %q, %v", v, err)
	}
	if v, err := c.Sysctl(t.Context(), name); v != "50" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

func TestFilesAreThoseOfTheClient(t *testing.T) {
	c := booted(t)
	if wd, err := os.Getwd(); err != nil || c.Dir != wd {
		t.Errorf("%s, %v; want %s", c.Dir, err, wd)
	}
	c.Dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(c.Dir, "pf.conf"), []byte("altq on em0 priq bandwidth 10Mb queue a\nqueue a priq(default)\n"), 0o600))
	_, err := c.Run(t.Context(), "pfctl", "-ef", "pf.conf")
	must(t, err)
	var queues []struct {
		Interface, Queue, Scheduler string
		QLimit                      int
	}
	must(t, c.JSON(t.Context(), &queues, "pfctl", "-s", "queue", "-o", "json"))
	if len(queues) != 1 || queues[0].Interface != "em0" || queues[0].Queue != "a" || queues[0].QLimit != 50 {
		t.Errorf("%+v", queues)
	}
	if err := c.JSON(t.Context(), &queues, "pfctl", "-s", "queue"); err == nil {
		t.Error("text was taken for JSON")
	}
}

func TestPktgenSends(t *testing.T) {
	c := booted(t)
	const frames, size = 100, 200
	r, err := c.Pktgen(t.Context(), client.PktgenParams{Interface: "em0", Frames: frames, Size: size})
	if err != nil || r.Frames != frames || r.Size != size || r.Elapsed <= 0 || r.PPS() != frames/r.Elapsed.Seconds() || r.Bytes != frames*size || r.BitsPerSecond() != frames*size*8/r.Elapsed.Seconds() {
		t.Errorf("%+v, %v", r, err)
	}
	refused := (*client.Refused)(nil)
	if _, err := c.Pktgen(t.Context(), client.PktgenParams{Interface: "em9"}); !errors.As(err, &refused) || refused.Reason != "em9: no such interface" || refused.Again {
		t.Errorf("%v", err)
	}
}

func TestPartsAreShownAsTheyCome(t *testing.T) {
	c := puppet(t, `{"version":1,"stdout":"YQ==","more":true,"exit":0}
{"version":1,"stdout":"Yg==","stderr":"eA==","more":true,"exit":0}
{"version":1,"stdout":"Yw==","exit":2}
`)
	var shown []string
	err := c.Follow(t.Context(), func(r client.Result) { shown = append(shown, string(r.Stdout)+"|"+string(r.Stderr)) }, "netstat")
	exit := (*client.Exit)(nil)
	if !errors.As(err, &exit) || exit.Status != 2 || strings.Join(shown, " ") != "a| b|x c|" {
		t.Errorf("%q, %v", shown, err)
	}
}

func TestRunHasAllParts(t *testing.T) {
	c := puppet(t, `{"version":1,"stdout":"YQ==","stderr":"eA==","more":true,"exit":0}
{"version":1,"stdout":"Yg==","stderr":"eQ==","exit":2}
`)
	r, err := c.Run(t.Context(), "netstat")
	exit := (*client.Exit)(nil)
	if !errors.As(err, &exit) || exit.Stderr != "xy" || string(r.Stdout) != "ab" || string(r.Stderr) != "xy" || r.Exit != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAToolEndsWithTheContext(t *testing.T) {
	c := booted(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n := 0
	err := c.Follow(ctx, func(client.Result) {
		n++
		cancel()
	}, "vmstat", "-i", "-w", "0.01")
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%d parts, %v", n, err)
	}
}

func TestAMachineWithoutAPlaceIsAskedAgain(t *testing.T) {
	const again = `{"version":1,"exit":1,"error":"try again","again":true}` + "\n"
	c := puppet(t, again, again, `{"version":1,"stdout":"eA==","exit":0}`+"\n")
	if r, err := c.Run(t.Context(), "sysctl"); string(r.Stdout) != "x" || err != nil {
		t.Errorf("%q, %v", r.Stdout, err)
	}
}

func TestFailuresSayWhatIsWrong(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := puppet(t, "").Run(ctx, "sysctl"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := puppet(t).Run(t.Context(), "sysctl", strings.Repeat("x", client.MaxRequest)); !errors.Is(err, client.ErrTooLong) {
		t.Errorf("%v", err)
	}
	c, err := client.New(filepath.Join(t.TempDir(), "s"))
	must(t, err)
	if _, err := c.Run(t.Context(), "sysctl"); !errors.Is(err, client.ErrNoMachine) || err.Error() != "no machine runs at "+c.Path()+"; ifsim boot DIR starts one" {
		t.Errorf("%v", err)
	}
	for answer, want := range map[string]string{
		"":                                 "the machine went away before it answered",
		`{"version":1,"more":true}` + "\n": "the machine went away before it answered",
		"{\n":                              "reply is not understood: unexpected end of JSON input",
		`{"version":2}` + "\n":             "the machine speaks version 2 of the protocol, not 1",
		strings.Repeat("x", 3*client.MaxOutput+1) + "\n": "reply longer than 25165824 bytes",
		`{"version":1,"exit":1,"error":"no"}` + "\n":     "no",
	} {
		_, err := puppet(t, answer).Run(t.Context(), "sysctl")
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", answer, err, want)
		}
	}
}

func TestTheSocketIsTheOneThatIfsimTakes(t *testing.T) {
	t.Setenv("IFSIM_SOCK", "/a/b")
	if c, err := client.New(""); err != nil || c.Path() != "/a/b" {
		t.Errorf("%v", err)
	}
}
