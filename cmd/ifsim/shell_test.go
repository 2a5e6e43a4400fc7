package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// shellBox starts `ifsim shell` with the first lab on a terminal, with a history in state.
func shellBox(t *testing.T, state string) (term *terminal, shell *exec.Cmd, outside *box) {
	t.Helper()
	run, err := os.MkdirTemp("", "ifsim") // the path of a socket must be short
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(run) })
	b := &box{t: t, env: append(os.Environ(), quickRaceExit, "TERM=xterm", "XDG_STATE_HOME="+state, "IFSIM_SOCK="+filepath.Join(run, "s"))}
	cmd := b.command("shell", filepath.Join("..", "..", "docs", "labs", "first"))
	return onTerminal(t, cmd), cmd, b
}

func TestShellOnATerminal(t *testing.T) {
	const prompt = "root@first:~ # "
	state := t.TempDir()
	term, shell, outside := shellBox(t, state)
	term.expect(prompt)

	// The Tab key completes commands, variables and interfaces.
	term.press("sysc\t-n kern.osty\t\r")
	term.expect("FreeBSD\r\n" + prompt)
	term.press("ifconf\t-g none em\t\t")
	term.expect("em0")
	term.expect("em1")
	term.press("\x03") // gives the line up
	term.expect(prompt)

	// An interrupt ends a tool, and not the shell.
	term.press("vmstat -i -w 1000; echo lost\r")
	term.expect("Total ")
	term.press("\x03")
	term.expect(prompt)
	term.press("echo status $?\r")
	term.expect("\nstatus 130\r\n" + prompt)

	// What counts tells its counts then, as at a prompt of the host's.
	term.press("tcpdump -i em0; echo lost\r")
	term.expect("listening on em0")
	term.press("\x03")
	term.expect("0 packets captured\r\n")
	term.expect(prompt)

	// Messages come above the prompt, which is shown again with what was typed.
	term.press("echo half")
	term.expect("half")
	outside.must("devctl", "detach", "em1")
	term.expect("\r\x1b[Kem1: detached\r\n")
	term.expect(prompt)
	term.expect("echo half")
	term.press(" whole\r")
	term.expect("\nhalf whole\r\n" + prompt)

	// A tool that reads keys takes no more than its own.
	term.press("top\r")
	term.expect("em0 txq1")
	term.press("q")
	term.expect(prompt)
	term.press("echo all\r")
	term.expect("\nall\r\n" + prompt)

	term.press("exit 3\r")
	term.drain()
	if err := shell.Wait(); shell.ProcessState.ExitCode() != 3 {
		t.Errorf("%v, %q", err, term.pending)
	}
	history, err := os.ReadFile(filepath.Join(state, "ifsim", "history"))
	check(t, err)
	const want = "sysctl -n kern.ostype \nvmstat -i -w 1000; echo lost\necho status $?\ntcpdump -i em0; echo lost\necho half whole\ntop\necho all\nexit 3\n"
	if string(history) != want {
		t.Errorf("history %q, want %q", history, want)
	}

	// The next shell remembers. ^D ends it.
	term, shell, _ = shellBox(t, state)
	term.expect(prompt)
	term.press("\x10\x10\x10\x10\r")
	term.expect("\nhalf whole\r\n" + prompt)
	term.press("\x04")
	term.drain()
	if err := shell.Wait(); err != nil {
		t.Errorf("%v, %q", err, term.pending)
	}
}

func TestATerminatedShellTakesItsMachineDown(t *testing.T) {
	term, shell, outside := shellBox(t, t.TempDir())
	term.expect("# ")
	check(t, shell.Process.Signal(os.Interrupt)) // is nothing at the prompt
	outside.must("sysctl", "kern.ostype")
	check(t, shell.Process.Signal(syscall.SIGTERM))
	term.drain()
	if err := shell.Wait(); shell.ProcessState.ExitCode() != 143 {
		t.Errorf("%v, %q", err, term.pending)
	}
	if out, err := outside.try("sysctl", "kern.ostype"); err == nil {
		t.Errorf("the machine is still there: %s", out)
	}
}
