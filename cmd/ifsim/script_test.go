package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds what a script waits for.
const patience = 30 * time.Second

// The binary is there under the names of two tools as well.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ifsim": main, "kenv": main, "devctl": main})
}

// TestScripts runs the command as its users do.
func TestScripts(t *testing.T) { testscript.Run(t, scriptParams(t, "em")) }

// scriptParams are how scripts run. Each has the machine directory of the first lab in
// lab, with NICs of a driver, whose name is $NIC, and a control socket of its own in
// $IFSIM_SOCK.
func scriptParams(t testing.TB, nic string) testscript.Params {
	return testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			lab, err := filepath.Abs(filepath.Join("..", "..", "docs", "labs", "first"))
			if err != nil {
				return err
			}
			// The path of a socket must be short, which that of $WORK need not be.
			dir, err := os.MkdirTemp("", "ifsim")
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(dir) })
			e.Setenv("IFSIM_SOCK", filepath.Join(dir, "s"))
			e.Setenv("NIC", nic)
			e.Vars = append(e.Vars, quickRaceExit)
			copied := filepath.Join(e.WorkDir, "lab")
			if err := os.CopyFS(copied, os.DirFS(lab)); err != nil {
				return err
			}
			return changeNICs(copied, nic)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"waitsock":   waitSocket,
			"waitlink":   waitLink,
			"waitoid":    waitOID,
			"faults":     playFaults(t),
			"faultsconf": writeFaultsConf(t),
		},
	}
}

// changeNICs gives a copy of the first lab, which has em, NICs of a driver.
func changeNICs(lab, nic string) error {
	r := strings.NewReplacer("hint.em.", "hint."+nic+".", "82574L", faultDrivers[nic], "_em", "_"+nic)
	for _, file := range []string{"boot/device.hints", "etc/rc.conf"} {
		path := filepath.Join(lab, file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(r.Replace(string(text))), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// waitSocket waits until a machine listens on the control socket.
func waitSocket(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.Getenv("IFSIM_SOCK")
	if len(args) == 1 {
		path = args[0]
	}
	if neg || len(args) > 1 {
		ts.Fatalf("usage: waitsock [path]")
	}
	poll(ts, "nobody listens on "+path, func() bool {
		conn, err := net.Dial("unix", path)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
}

// waitLink waits until interfaces have a carrier.
func waitLink(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: waitlink interface...")
	}
	for _, name := range args {
		poll(ts, name+" has no carrier", func() bool {
			return ts.Exec("ifsim", "ifconfig", name) == nil && strings.Contains(ts.ReadFile("stdout"), "\tstatus: active\n")
		})
	}
}

// waitOID waits until a variable has a value. Statistics that the hardware keeps are
// read once a second.
func waitOID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitoid name value")
	}
	poll(ts, args[0]+" is not "+args[1], func() bool {
		return ts.Exec("ifsim", "sysctl", "-n", args[0]) == nil && ts.ReadFile("stdout") == args[1]+"\n"
	})
}

// poll tries until something is so.
func poll(ts *testscript.TestScript, otherwise string, is func() bool) {
	const step = 5 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			ts.Fatalf("%s after %v", otherwise, patience)
		}
	}
}
