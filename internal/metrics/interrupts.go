package metrics

import (
	"strings"

	"github.com/ifsim/ifsim/iflib/pci"
)

var interruptCount = counter("interrupts", unitTimes, "How often an interrupt's filters have run; the handlers are those that it has now, with commas.", "vmstat -i",
	"irq", "handlers")

func interruptFamilies() []family { return []family{interruptCount} }

func (s *scrape) interrupts() {
	for _, i := range pci.Of(s.k).Interrupts() {
		s.put(interruptCount, float64(i.Count), decimal(i.IRQ), strings.Join(i.Handlers, ","))
	}
}
