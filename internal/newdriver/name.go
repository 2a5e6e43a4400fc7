package newdriver

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"syscall"
)

// maxName is the longest name: with a unit of three digits and a NUL it is an interface
// name (IFNAMSIZ).
const maxName = 12

// reserved are names that Go gives a meaning of its own as a package or a directory.
var reserved = []string{"init", "internal", "main", "test", "testdata", "vendor"}

// CheckName says what is wrong with the name of a driver: it begins and ends with a
// lower-case letter, has letters and digits between, and is a package's name in Go. The
// error wraps EINVAL, or ENAMETOOLONG for more than 12 letters.
func CheckName(name string) error {
	bad := func(why string) error { return fmt.Errorf("driver name %q %s: %w", name, why, syscall.EINVAL) }
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	switch n := len(name); {
	case n == 0:
		return bad("is empty")
	case n > maxName:
		return fmt.Errorf("driver name %q has more than %d letters: %w", name, maxName, syscall.ENAMETOOLONG)
	case !letter(name[0]):
		return bad("does not begin with a lower-case letter")
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "":
		return bad("has something else than lower-case letters and digits in it")
	case !letter(name[n-1]):
		return bad("ends with a digit, which would be taken for a unit number")
	case token.IsKeyword(name) || slices.Contains(reserved, name):
		return bad("is a word of Go's")
	case name == exampleName:
		return bad("is the example's")
	}
	return nil
}
