package newdriver

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"hash/crc32"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// What the example is called, and where it is.
const (
	exampleName   = "skel"
	examplePart   = "SKEL"
	exampleDevice = "5ce1"
	examplePath   = ifsim + "/drivers/" + exampleName
)

// deviceIDs is the upper half of the device ids, which the NICs of ifsim do not use.
const deviceIDs = 0x8000

// deviceID is the PCI device id of the hardware: two drivers of one machine must not both
// think that a card is theirs.
func deviceID(name string) string {
	return fmt.Sprintf("%04x", deviceIDs|crc32.ChecksumIEEE([]byte(name))&(deviceIDs-1))
}

// skeleton adds the files of the example, as the driver called name in a module, to
// files. The error wraps EINVAL if a package has that name that the sources import.
func skeleton(source fs.FS, name, module string, files map[string][]byte) error {
	rename := strings.NewReplacer(
		examplePath, module+"/"+name,
		exampleDevice, deviceID(name),
		examplePart, strings.ToUpper(name),
		exampleName, name,
	)
	return fs.WalkDir(source, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(source, p)
		if err != nil {
			return err
		}
		if path.Ext(p) == ".go" {
			stays, err := staysHome(p, text, name)
			if err != nil || stays {
				return err
			}
		}
		renamed := []byte(rename.Replace(string(text)))
		if path.Ext(p) == ".go" {
			// Other names are of other lengths and sort otherwise.
			if renamed, err = format.Source(renamed); err != nil {
				return fmt.Errorf("formatting %s: %w", p, err)
			}
		}
		files[path.Join(name, rename.Replace(p))] = renamed
		return nil
	})
}

// staysHome reports whether a file is of no use elsewhere: it imports what other modules
// must not, or is what makes the sources known to this program.
func staysHome(p string, text []byte, name string) (bool, error) {
	f, err := parser.ParseFile(token.NewFileSet(), p, text, parser.SkipObjectResolution)
	if err != nil {
		return false, err
	}
	outside := false // of the driver's package, so that the driver's name is one in this file
	for _, spec := range f.Imports {
		imp, _ := strconv.Unquote(spec.Path.Value) // the parser has seen to it
		switch {
		case imp == "embed" || strings.HasPrefix(imp, ifsim+"/internal/"):
			return true, nil
		case path.Base(imp) == name:
			return false, fmt.Errorf("driver name %q is that of a package which drivers import, %s: %w", name, imp, syscall.EINVAL)
		case imp == examplePath:
			outside = true
		}
	}
	taken := false
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		taken = taken || ok && (outside && id.Name == name || id.Name == name+"reg" || id.Name == name+"hw")
		return !taken
	})
	if taken {
		return false, fmt.Errorf("driver name %q means something else in %s: %w", name, p, syscall.EINVAL)
	}
	return false, nil
}
