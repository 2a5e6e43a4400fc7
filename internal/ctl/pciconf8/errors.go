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

// listErrors prints the errors that a function has seen (list_errors).
func (c *command) listErrors(read config) {
	c.errorBits("PCI errors", statusErrors, read(pci.RegStatus, halfWidth))
	for reg := range walk(read) {
		if read(reg, byteWidth) == pci.CapPCIe {
			c.errorBits("PCI-e errors", expressErrors, read(reg+pcieDevSta, halfWidth))
			return
		}
	}
}

// errorBits prints the indicators that are set, the header before the first.
func (c *command) errorBits(header string, table []errorBit, status uint32) {
	lead := fmt.Sprintf("%14s = ", header)
	for _, e := range table {
		if status&e.mask != 0 {
			fmt.Fprintf(c.stdout, "%s%s\n", lead, e.text)
			lead = strings.Repeat(" ", len(lead))
		}
	}
}
