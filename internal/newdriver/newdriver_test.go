package newdriver_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/newdriver"
)

// checkout is the root of this module.
const checkout = "../.."

func TestNames(t *testing.T) {
	for name, want := range map[string]error{
		"foo": nil, "x": nil, "if10g": nil, "abcdefghijkl": nil, "e1000e": nil,
		"": syscall.EINVAL, "em0": syscall.EINVAL, "Foo": syscall.EINVAL, "9p": syscall.EINVAL, "a_b": syscall.EINVAL,
		"a/b": syscall.EINVAL, "..": syscall.EINVAL, "straße": syscall.EINVAL, "func": syscall.EINVAL,
		"main": syscall.EINVAL, "internal": syscall.EINVAL, "skel": syscall.EINVAL,
		"abcdefghijklm": syscall.ENAMETOOLONG,
	} {
		if err := newdriver.CheckName(name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

func TestNamesThatTheSourcesUse(t *testing.T) {
	for _, name := range []string{"pci", "iflib", "testing", "bits", "t"} {
		dir := t.TempDir()
		if _, err := newdriver.Write(newdriver.Options{Name: name, Dir: dir}); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v, want EINVAL", name, err)
		}
		if files := tree(t, dir); len(files) != 0 {
			t.Errorf("%q: %v was written", name, files)
		}
	}
}

// tree is every file below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, p))
		files[p] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, o newdriver.Options) []string {
	t.Helper()
	files, err := newdriver.Write(o)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSkeletonIsTheExampleUnderAnotherName(t *testing.T) {
	dir := t.TempDir()
	listed := write(t, newdriver.Options{Name: "quux", Dir: dir, Module: "example.org/nics"})
	files := tree(t, dir)
	if len(listed) != len(files) || !slices.IsSorted(listed) {
		t.Errorf("%v were told of, %d are there", listed, len(files))
	}
	for _, p := range listed {
		text := files[p]
		if strings.Contains(strings.ToLower(text), "skel") || strings.Contains(text, "5ce1") {
			t.Errorf("%s still speaks of the example", p)
		}
		if !strings.HasSuffix(p, ".go") {
			continue
		}
		if strings.Contains(text, "ifsim/internal") {
			t.Errorf("%s imports what is internal", p)
		}
		if want, err := format.Source([]byte(text)); err != nil || !bytes.Equal(want, []byte(text)) {
			t.Errorf("%s is not formatted: %v", p, err)
		}
	}
	for _, p := range []string{"go.mod", "quux/README.md", "quux/doc.go", "quux/driver.go", "quux/txrx.go", "quux/txrx_test.go",
		"quux/conformance_test.go", "quux/quuxreg/reg.go", "quux/quuxhw/nic.go", "quux/quuxboot/main.go",
		"quux/quuxboot/lab/boot/device.hints"} {
		if !slices.Contains(listed, p) {
			t.Errorf("%s was not written", p)
		}
	}
	if want := `"example.org/nics/quux/quuxreg"`; !strings.Contains(files["quux/driver.go"], want) {
		t.Errorf("driver.go does not import %s", want)
	}
}

func TestTwoDriversOfAModuleHaveIDsOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	write(t, newdriver.Options{Name: "foo", Dir: dir})
	if second := write(t, newdriver.Options{Name: "bar", Dir: dir}); slices.Contains(second, "go.mod") {
		t.Error("go.mod was written again")
	}
	files := tree(t, dir)
	if !strings.Contains(files["bar/driver.go"], `"example.com/foo/bar/barreg"`) {
		t.Error("the second driver is not of the first one's module")
	}
	id := func(p string) string {
		_, after, _ := strings.Cut(files[p], "DeviceID = ")
		id, _, _ := strings.Cut(after, "\n")
		return id
	}
	if a, b := id("foo/fooreg/reg.go"), id("bar/barreg/reg.go"); a == b || len(a) != len("0x8000") || len(b) != len(a) {
		t.Errorf("ids %q and %q", a, b)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "foo"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "foo", "txrx.go"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := newdriver.Write(newdriver.Options{Name: "foo", Dir: dir}); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("%v, want EEXIST", err)
	}
	if files := tree(t, dir); len(files) != 1 || files["foo/txrx.go"] != "mine" {
		t.Errorf("directory has %d files", len(files))
	}
}

func TestModules(t *testing.T) {
	other := t.TempDir() // a module that is not ifsim
	if err := os.WriteFile(filepath.Join(other, "go.mod"), []byte("module (\n\t\"example.net/a\" // b\n)\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		o    newdriver.Options
		want error
		mod  string // part of go.mod
	}{
		"default":          {newdriver.Options{}, nil, "module example.com/foo\n"},
		"version":          {newdriver.Options{Version: "v1.2.3"}, nil, "require github.com/ifsim/ifsim v1.2.3\n"},
		"not a path":       {newdriver.Options{Module: "a b"}, syscall.EINVAL, ""},
		"not clean":        {newdriver.Options{Module: "a/../b"}, syscall.EINVAL, ""},
		"ifsim's own":      {newdriver.Options{Module: "github.com/ifsim/ifsim/x"}, syscall.EINVAL, ""},
		"no checkout":      {newdriver.Options{Replace: other}, syscall.EINVAL, ""},
		"nothing there":    {newdriver.Options{Replace: filepath.Join(other, "none")}, fs.ErrNotExist, ""},
		"another module":   {newdriver.Options{Dir: other, Module: "example.net/b"}, syscall.EINVAL, ""},
		"replace too late": {newdriver.Options{Dir: other, Replace: checkout}, syscall.EEXIST, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.o.Name = "foo"
			if tc.o.Dir == "" {
				tc.o.Dir = t.TempDir()
			}
			if _, err := newdriver.Write(tc.o); !errors.Is(err, tc.want) {
				t.Fatalf("%v, want %v", err, tc.want)
			}
			if mod := tree(t, tc.o.Dir)["go.mod"]; !strings.Contains(mod, tc.mod) {
				t.Errorf("go.mod is\n%s\nwant %q in it", mod, tc.mod)
			}
		})
	}
}

func TestCheckoutMayHaveASpaceInItsPath(t *testing.T) {
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	link, dir := filepath.Join(t.TempDir(), "my ifsim"), t.TempDir()
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	write(t, newdriver.Options{Name: "foo", Dir: dir, Replace: link})
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ifsim/ifsim")
	cmd.Dir = dir
	cmd.Env = offline()
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != link+"\n" {
		t.Errorf("go says that ifsim is in %q, want %q: %v", out, link, err)
	}
}

// offline is an environment in which go fetches nothing and changes no go.mod.
func offline() []string {
	return append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off")
}

// A driver and its hardware are built and tested in a module of their own: this is the
// test that what drivers need can be imported from outside.
func TestModuleOfItsOwnPassesItsTests(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module")
	}
	dir := t.TempDir()
	write(t, newdriver.Options{Name: "foo", Dir: dir, Replace: checkout})
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = offline()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	machineBoots(t, dir)
}

// machineBoots builds the command of the driver foo, and boots its machine until the NICs
// have found each other.
func machineBoots(t *testing.T, dir string) {
	build := exec.Command("go", "build", "-o", "boot", "./foo/fooboot")
	build.Dir, build.Env = dir, offline()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// The path of a socket must be short.
	boot := exec.CommandContext(ctx, "./boot", "-S", "s", filepath.Join("foo", "fooboot", "lab"))
	boot.Dir = dir
	console, err := boot.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := boot.Start(); err != nil {
		t.Fatal(err)
	}
	links := 0
	for lines := bufio.NewScanner(console); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), ": link state changed to UP") && strings.HasPrefix(lines.Text(), "foo") {
			links++
		}
		if links == 2 {
			if err := boot.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			links++
		}
	}
	if err := boot.Wait(); err != nil || links != 3 {
		t.Errorf("%d links came up, and the machine ended with %v", min(links, 2), err)
	}
}
