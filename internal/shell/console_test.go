package shell

import (
	"bytes"
	"testing"
)

func TestMessagesAppearAboveThePrompt(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out)
	write := func(text string) {
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	expect := func(want string) {
		t.Helper()
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
		out.Reset()
	}
	write("boot")
	expect("boot")
	redrawn := 0
	c.prompting(func() { redrawn++ })
	write("em0: link ")
	expect("")
	write("up\nem1: ")
	expect(eraseLine + "em0: link up\n")
	if redrawn != 1 {
		t.Errorf("redrawn %d times", redrawn)
	}
	c.typed()
	expect("em1: ")
	write("x")
	expect("x")
}

func TestHistoryIsInTheStateDirectory(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for state, want := range map[string]string{
		"/var/me": "/var/me/ifsim/history",
		"":        "/home/me/.local/state/ifsim/history",
		"rel/me":  "/home/me/.local/state/ifsim/history",
	} {
		t.Setenv("XDG_STATE_HOME", state)
		if got, err := HistoryPath(); got != want || err != nil {
			t.Errorf("%q: %q, %v", state, got, err)
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	if path, err := HistoryPath(); err == nil {
		t.Errorf("%q without a home", path)
	}
}

func TestRunesAndBytes(t *testing.T) {
	for pos, want := range []int{0, 1, 3, 4, 4} {
		if got := bytePos("aäb", pos); got != want {
			t.Errorf("%d: %d, want %d", pos, got, want)
		}
	}
}
