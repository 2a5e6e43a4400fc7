package pciconf8

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/sysctl"
)

// Widths of accesses in bytes.
const (
	byteWidth = 1
	halfWidth = 2
)

// hexDigits are the digits of base 16.
const hexDigits = "0123456789abcdefABCDEF"

// lineBytes is how many bytes -r prints in a line.
const lineBytes = 16

// lastRegister is the last one that a PCI Express function can have (PCIE_REGMAX); those
// behind the space of a function read as ones.
const lastRegister = 4095

// config reads a register of a configuration space.
type config func(reg, width int) uint32

// configOf reads the space of a function.
func configOf(f *pci.Function) config {
	return func(reg, width int) uint32 {
		switch width {
		case byteWidth:
			return uint32(f.ReadConfig8(reg))
		case halfWidth:
			return uint32(f.ReadConfig16(reg))
		}
		return f.ReadConfig32(reg)
	}
}

// refused is an error of a request to the bus.
func refused(request string, err error) error {
	return tool.Messagef("ioctl(%s): %s", request, sysctl.Strerror(err))
}

// function is that of a word for a request; last is the last register that may be touched.
func (c *command) function(request, word string, reg int64, last int) (*pci.Function, error) {
	loc, err := c.locate(word)
	if err != nil {
		return nil, err
	}
	s, ok := c.at(loc)
	switch {
	case reg < 0 || reg > int64(last) || reg%int64(c.width()) != 0:
		return nil, refused(request, syscall.EINVAL)
	case !ok:
		return nil, refused(request, syscall.ENODEV)
	}
	return s.Function, nil
}

// readRange prints registers, 16 bytes in a line (readit).
func (c *command) readRange(word, addr string) error {
	from, rest := leadingNumber(addr)
	to := from
	if behind, ok := strings.CutPrefix(rest, ":"); ok {
		to, _ = leadingNumber(behind)
	}
	width := c.width()
	inLine, i := lineBytes/width, 0
	for r := from; r <= to; r += int64(width) {
		f, err := c.function("PCIOCREAD", word, r, lastRegister)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.stdout, "%0*x", width*2, configOf(f)(int(r), width))
		i++
		const half = lineBytes / 2
		if i%half == 0 {
			c.stdout.WriteByte(' ')
		}
		if i%inLine != 0 {
			c.stdout.WriteByte(' ')
		} else {
			c.stdout.WriteByte('\n')
		}
	}
	if i%inLine != 0 {
		c.stdout.WriteByte('\n')
	}
	return nil
}

// writeOne writes a register (writeit). Bits that the function does not let software write
// stay as they are, as hardware has it; behind its space nothing can be written.
func (c *command) writeOne(word, addr, value string) error {
	reg, _ := leadingNumber(addr)
	v, _ := leadingNumber(value)
	width := c.width()
	f, err := c.function("PCIOCWRITE", word, reg, pci.ConfigSize-width)
	if err != nil {
		return err
	}
	switch width {
	case byteWidth:
		f.WriteConfig8(int(reg), uint8(v))
	case halfWidth:
		f.WriteConfig16(int(reg), uint16(v))
	default:
		f.WriteConfig32(int(reg), uint32(v))
	}
	return nil
}

// tellAttached says whether a device has a driver (chkattached).
func (c *command) tellAttached(word string) error {
	loc, err := c.locate(word)
	if err != nil {
		return err
	}
	s, ok := c.at(loc)
	if !ok {
		return refused("PCIOCATTACHED", syscall.ENODEV)
	}
	if s.Driver == "" {
		fmt.Fprintf(c.stdout, "%s: not attached\n", word)
		return tool.Status{Code: exitDetached}
	}
	fmt.Fprintf(c.stdout, "%s: attached\n", word)
	return nil
}

// leadingNumber is the number that a word begins with, and what follows it: 0 and all of
// it if there is none; the nearest if it is too large (strtol(3) with base 0).
func leadingNumber(word string) (n int64, rest string) {
	const octal, decimal, hex = 8, 10, 16
	sign, text := "", word
	if text != "" && (text[0] == '-' || text[0] == '+') {
		sign, text = text[:1], text[1:]
	}
	base, valid := decimal, digits
	if behind, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok && behind != "" && strings.Contains(hexDigits, behind[:1]) {
		base, valid, text = hex, hexDigits, text[len("0x"):]
	} else if strings.HasPrefix(text, "0") {
		base, valid = octal, digits[:octal]
	}
	rest = strings.TrimLeft(text, valid)
	number := text[:len(text)-len(rest)]
	if number == "" {
		return 0, word
	}
	// The digits are valid; a number that is too large comes back as the nearest.
	n, _ = strconv.ParseInt(sign+number, base, 64)
	return n, rest
}
