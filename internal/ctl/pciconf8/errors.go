package pciconf8

import (
	"fmt"
	"strings"

	"github.com/ifsim/ifsim/iflib/pci"
)

// errorBit is an error indicator in a status register.
type errorBit struct {
	mask uint32
	text string
}

// statusErrors are the indicators in the status register.
var statusErrors = []errorBit{
	{0x0100, "Master Data Parity Error"},
	{0x0800, "Sent Target-Abort"},
	{0x1000, "Received Target-Abort"},
	{0x2000, "Received Master-Abort"},
	{0x4000, "Signalled System Error"},
	{0x8000, "Detected Parity Error"},
}

// expressErrors are the indicators in the device status of PCI Express.
var expressErrors = []errorBit{
	{0x0001, "Correctable Error Detected"},
	{0x0002, "Non-Fatal Error Detected"},
	{0x0004, "Fatal Error Detected"},
	{0x0008, "Unsupported Request Detected"},
}

// errorGroup are the errors of one register.
type errorGroup struct {
	header string
	texts  []string
}

// errorsOf are the errors that a function has seen.
func errorsOf(read config) []errorGroup {
	groups := []errorGroup{{"PCI errors", errorTexts(statusErrors, read(pci.RegStatus, halfWidth))}}
	for reg := range walk(read) {
		if read(reg, byteWidth) == pci.CapPCIe {
			groups = append(groups, errorGroup{"PCI-e errors", errorTexts(expressErrors, read(reg+pcieDevSta, halfWidth))})
		}
	}
	return groups
}

// errorTexts are the indicators that are set.
func errorTexts(table []errorBit, status uint32) (texts []string) {
	for _, e := range table {
		if status&e.mask != 0 {
			texts = append(texts, e.text)
		}
	}
	return texts
}

// listErrors prints the errors that a function has seen, each header before the first
// (list_errors).
func (c *command) listErrors(read config) {
	for _, g := range errorsOf(read) {
		lead := fmt.Sprintf("%14s = ", g.header)
		for _, text := range g.texts {
			fmt.Fprintf(c.stdout, "%s%s\n", lead, text)
			lead = strings.Repeat(" ", len(lead))
		}
	}
}
