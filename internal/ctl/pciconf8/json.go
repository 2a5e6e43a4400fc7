package pciconf8

import (
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/machine"
)

// FreeBSD's pciconf writes no JSON; the names here are those of its text.

// listJSON writes the functions that chosen has as JSON.
func (c *command) listJSON(chosen []machine.Slot) error {
	j := c.format.NewJSON(c.stdout, "")
	j.Object("pciconf", func() {
		j.List("device", func() {
			for _, s := range chosen {
				j.Item(func() { c.slotJSON(j, s) })
			}
		})
	})
	return j.Close()
}

// slotJSON is a function. One without a driver has no name.
func (c *command) slotJSON(j *tool.JSON, s machine.Slot) {
	f := s.Function
	if s.Driver != "" {
		j.Field("name", fmt.Sprintf("%s%d", s.Driver, s.Unit))
	}
	j.Field("selector", f.Location().String())
	for word := range strings.FieldsSeq(describe(f)) {
		key, value, _ := strings.Cut(word, "=")
		j.Field(key, value)
	}
	read := configOf(f)
	if c.verbose {
		for _, n := range namesOf(f.Identity()) {
			j.Field(n.key+"-name", n.name)
		}
	}
	if c.bars {
		j.List("bar", func() {
			for _, r := range f.Regions() {
				j.Item(func() { barJSON(j, r) })
			}
		})
	}
	if c.caps {
		j.List("cap", func() {
			for reg := range walk(read) {
				id := uint8(read(reg, byteWidth))
				j.Item(func() {
					j.Field("id", fmt.Sprintf("0x%02x", id))
					j.Field("register", fmt.Sprintf("0x%02x", reg))
					j.Field("description", strings.Join(strings.Fields(capText(read, id, reg)), " "))
				})
			}
		})
	}
	if c.errors {
		j.List("error", func() {
			for _, g := range errorsOf(read) {
				for _, text := range g.texts {
					j.Value(text)
				}
			}
		})
	}
}

// barJSON is a base address register.
func barJSON(j *tool.JSON, r pci.Region) {
	kind, bits := barKind(r)
	j.Field("register", fmt.Sprintf("0x%02x", pci.BARReg(r.Index)))
	j.Field("type", kind)
	j.Field("range", bits)
	j.Field("base", fmt.Sprintf("%#x", r.Addr))
	j.Field("size", r.Size)
	j.Field("enabled", r.Enabled)
}
