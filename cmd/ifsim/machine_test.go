package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// quickRaceExit spares commands under the race detector the second that they would wait
// at their end.
const quickRaceExit = "GORACE=atexit_sleep_ms=0"

// box is a machine that `ifsim boot` runs, used with the command's other tools.
type box struct {
	t       testing.TB
	env     []string
	boot    *exec.Cmd
	console bytes.Buffer
	ended   bool
}

// bootBox boots a machine of files and waits for its control socket.
func bootBox(t testing.TB, files map[string]string) *box {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	run, err := os.MkdirTemp("", "ifsim") // the path of a socket must be short
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(run) })
	sock := filepath.Join(run, "s")
	b := &box{t: t, env: append(os.Environ(), "IFSIM_SOCK="+sock, quickRaceExit)}
	b.boot = b.command("boot", dir)
	b.boot.Stdout, b.boot.Stderr = &b.console, &b.console
	check(t, b.boot.Start())
	t.Cleanup(b.shutdown)
	eventually(t, "no machine runs", func() bool {
		conn, err := net.Dial("unix", sock)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return b
}

func (b *box) command(args ...string) *exec.Cmd {
	cmd := exec.Command("ifsim", args...)
	cmd.Env = b.env
	return cmd
}

// try runs a tool.
func (b *box) try(args ...string) (stdout string, err error) {
	var errText strings.Builder
	cmd := b.command(args...)
	cmd.Stderr = &errText
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("ifsim %s: %w: %s", strings.Join(args, " "), err, &errText)
	}
	return string(out), err
}

// must runs a tool that succeeds.
func (b *box) must(args ...string) string {
	b.t.Helper()
	out, err := b.try(args...)
	check(b.t, err)
	return out
}

// sysctl is a number that a variable holds.
func (b *box) sysctl(name string) uint64 {
	b.t.Helper()
	n, err := strconv.ParseUint(strings.TrimSpace(b.must("sysctl", "-n", name)), 10, 64)
	check(b.t, err)
	return n
}

// awaitStatus waits for a status of em0 in ifconfig.
func (b *box) awaitStatus(status string) {
	b.t.Helper()
	eventually(b.t, "em0 is not "+status, func() bool {
		return strings.Contains(b.must("ifconfig", "em0"), "\tstatus: "+status+"\n")
	})
}

// mac is em0's address.
func (b *box) mac() net.HardwareAddr {
	b.t.Helper()
	text := regexp.MustCompile(`\tether (\S+)\n`).FindStringSubmatch(b.must("ifconfig", "em0"))
	if text == nil {
		b.t.Fatal("em0 has no address")
	}
	mac, err := net.ParseMAC(text[1])
	check(b.t, err)
	return mac
}

// netstat is the row of em0 by column.
func (b *box) netstat() map[string]uint64 {
	b.t.Helper()
	lines := strings.Split(b.must("netstat", "-I", "em0", "-bdn", "-f", "link"), "\n")
	names, values := strings.Fields(lines[0]), strings.Fields(lines[1])
	row := make(map[string]uint64)
	for i, name := range names {
		if n, err := strconv.ParseUint(values[i], 10, 64); err == nil {
			row[name] = n
		}
	}
	return row
}

// shutdown interrupts the machine, which must end well.
func (b *box) shutdown() {
	if b.ended {
		return
	}
	b.ended = true
	_ = b.boot.Process.Signal(syscall.SIGINT)
	kill := time.AfterFunc(patience, func() { _ = b.boot.Process.Kill() })
	defer kill.Stop()
	if err := b.boot.Wait(); err != nil || b.t.Failed() {
		b.t.Errorf("ifsim boot: %v\n%s", err, &b.console)
	}
}
