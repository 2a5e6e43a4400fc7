package sysctl8

import (
	"encoding/binary"
	"errors"
	"syscall"

	"github.com/ifsim/ifsim/sysctl"
)

// entry is what the tool knows of an OID: its path and the answer to the format query.
type entry struct {
	path   []int32
	kind   sysctl.Kind
	flags  sysctl.Flag
	format string
}

const kindBits = 0xf // the kind within the 32-bit word of the format query

// textSize bounds the answers of queries (BUFSIZ).
const textSize = 1024

// query asks {0, op, path...}.
func (c *Command) query(op int32, path []int32, newValue []byte) ([]byte, error) {
	buf := make([]byte, textSize)
	n, err := c.Tree.Sysctl(append([]int32{sysctl.NumSysctl, op}, path...), buf, newValue, c.Cred)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// text asks for a string.
func (c *Command) text(op int32, path []int32) (string, error) {
	b, err := c.query(op, path, nil)
	if len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return string(b), err
}

// numbers decodes an answer that is a path.
func numbers(b []byte) []int32 {
	const size = 4
	path := make([]int32, 0, len(b)/size)
	for ; len(b) >= size; b = b[size:] {
		path = append(path, int32(binary.LittleEndian.Uint32(b)))
	}
	return path
}

// resolve turns a name into a path.
func (c *Command) resolve(name string) ([]int32, error) {
	b, err := c.query(sysctl.QueryNameToOID, nil, []byte(name))
	return numbers(b), err
}

// next asks for the entry after path; false at the end of the tree.
func (c *Command) next(path []int32, noSkip bool) ([]int32, bool, error) {
	op := int32(sysctl.QueryNext)
	if noSkip {
		op = sysctl.QueryNextNoSkip
	}
	b, err := c.query(op, path, nil)
	if errors.Is(err, syscall.ENOENT) {
		return nil, false, nil
	}
	return numbers(b), err == nil, err
}

// describe asks for kind, flags and format.
func (c *Command) describe(path []int32) (entry, error) {
	b, err := c.query(sysctl.QueryFormat, path, nil)
	if err != nil {
		return entry{}, err
	}
	word := binary.LittleEndian.Uint32(b)
	return entry{path: path, kind: sysctl.Kind(word & kindBits), flags: sysctl.Flag(word &^ kindBits),
		format: string(b[4 : len(b)-1])}, nil
}

// value reads the bytes of an OID. Without -B the buffer is twice what the tree asks for.
func (c *Command) value(e entry) ([]byte, bool) {
	size := c.bufSize
	if size == 0 {
		// An error here shows again in the read that follows.
		n, _ := c.Tree.Sysctl(e.path, nil, nil, c.Cred)
		size = 2 * n
	}
	buf := make([]byte, size)
	n, err := c.Tree.Sysctl(e.path, buf, nil, c.Cred)
	if err != nil || n == 0 && e.kind != sysctl.KindString {
		return nil, false
	}
	return buf[:n], true
}
