package devinfo8

import (
	"io"
	"strings"

	"github.com/ifsim/ifsim/internal/ctl/tool"
)

// printJSON prints what the flags ask for with libxo's names: objects within each other for
// devices, lists for what they have. FreeBSD repeats the key "description" for each list,
// which no parser keeps; it is left out here.
func (c *command) printJSON(format tool.Format, w io.Writer) error {
	j := format.NewJSON(w, "")
	switch {
	case c.wantPath:
		way := c.tree.nexus.wayTo(c.path)
		if way == nil {
			return c.notFound()
		}
		j.Object("device-path", func() { c.pathJSON(j, way) })
	case c.usage:
		j.Object("device-resources", func() {
			for _, m := range c.tree.managers {
				j.Object(m.key(), func() { usageJSON(j, m) })
			}
		})
	default:
		j.Object("device-information", func() { c.deviceJSON(j, c.tree.nexus) })
	}
	return j.Close()
}

// key is the name of an object for a device.
func (d *device) key() string {
	if d.name == "" {
		return "unknown"
	}
	return d.name
}

// key is the name of an object or list for a manager.
func (m *manager) key() string { return strings.NewReplacer(" ", "-", "/", "-").Replace(m.name) }

// pathJSON nests the devices of a way, the first outermost.
func (c *command) pathJSON(j *tool.JSON, way []*device) {
	j.Object(way[0].key(), func() {
		j.Field("devicename", way[0].key())
		c.propsJSON(j, way[0])
		if len(way) > 1 {
			c.pathJSON(j, way[1:])
		}
	})
}

// deviceJSON is a device with those below it; those that are left out leave their children.
func (c *command) deviceJSON(j *tool.JSON, d *device) {
	children := func() {
		for _, child := range d.children {
			c.deviceJSON(j, child)
		}
	}
	if !c.verbose && !d.attached {
		children()
		return
	}
	j.Object(d.key(), func() {
		c.propsJSON(j, d)
		if c.resources {
			for _, m := range c.tree.managers {
				if spans := m.of(d); len(spans) > 0 {
					j.List(m.key(), func() { m.spansJSON(j, spans) })
				}
			}
		}
		children()
	})
}

// propsJSON is what -v tells of a device.
func (c *command) propsJSON(j *tool.JSON, d *device) {
	if !c.verbose {
		return
	}
	for _, p := range []struct{ key, list string }{{"pnpinfo", d.pnpinfo}, {"location", d.location}} {
		if p.list == "" {
			continue
		}
		j.Object(p.key, func() {
			for _, word := range strings.Fields(p.list) {
				key, value, _ := strings.Cut(word, "=")
				j.Field(key, value)
			}
		})
	}
	state := "enabled"
	switch {
	case d.disabled:
		state = "disabled"
	case d.suspended:
		state = "suspended"
	}
	j.Field("state", state)
}

// spansJSON are ranges as items with both ends.
func (m *manager) spansJSON(j *tool.JSON, spans []span) {
	for _, s := range spans {
		j.Item(func() {
			j.Field("start", m.text(span{first: s.first, last: s.first}))
			j.Field("end", m.text(span{first: s.last, last: s.last}))
		})
	}
}

// usageJSON is a list of owners for each range of a manager.
func usageJSON(j *tool.JSON, m *manager) {
	for _, s := range m.all() {
		j.List(m.text(s), func() { j.Value(s.ownerText()) })
	}
}
