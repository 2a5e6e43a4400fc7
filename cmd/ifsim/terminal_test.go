package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a command on a terminal of its own.
type terminal struct {
	t       testing.TB
	master  *os.File
	shown   chan string // closed when the terminal is
	pending string      // shown and not yet looked at
}

// onTerminal starts a command on a terminal of 80 columns.
func onTerminal(t testing.TB, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	check(t, err)
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	check(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	check(t, err)
	check(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	check(t, err)
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	check(t, cmd.Start())
	term := &terminal{t: t, master: master, shown: make(chan string)}
	go term.read()
	return term
}

// read passes on what is shown until the terminal is closed.
func (term *terminal) read() {
	defer close(term.shown)
	b := make([]byte, 4096)
	for {
		n, err := term.master.Read(b)
		if err != nil {
			return
		}
		term.shown <- string(b[:n])
	}
}

// expect waits until text is shown, and forgets what was shown up to there.
func (term *terminal) expect(text string) {
	term.t.Helper()
	patient := time.After(patience)
	for {
		if _, rest, ok := strings.Cut(term.pending, text); ok {
			term.pending = rest
			return
		}
		select {
		case more, ok := <-term.shown:
			if !ok {
				term.t.Fatalf("the terminal ends without %q: %q", text, term.pending)
			}
			term.pending += more
		case <-patient:
			term.t.Fatalf("no %q but %q", text, term.pending)
		}
	}
}

// press types keys.
func (term *terminal) press(keys string) {
	term.t.Helper()
	_, err := term.master.WriteString(keys)
	check(term.t, err)
}

// drain takes what is still shown until the terminal is closed.
func (term *terminal) drain() {
	for more := range term.shown {
		term.pending += more
	}
}
