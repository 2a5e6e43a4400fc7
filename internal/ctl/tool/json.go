package tool

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// JSON writes a document piece by piece as libxo(3) does, blanks and all:
//
//	j := format.NewJSON(w, "1")
//	j.Object("statistics", func() {
//		j.List("interface", func() {
//			j.Item(func() {
//				j.Field("name", "em0")
//				j.Field("mtu", 1500)
//			})
//		})
//	})
//	err := j.Close()
//
// is {"__version": "1", "statistics": {"interface": [{"name":"em0","mtu":1500}]}} and a
// newline. One goroutine.
type JSON struct {
	w      io.Writer
	b      bytes.Buffer
	err    error
	pretty bool
	depth  int  // of objects and lists, the document's own included
	more   bool // something stands before the next value at its depth
}

// NewJSON begins a document. The version is that of the tool's output (xo_set_version(3)),
// "" for none.
func (f Format) NewJSON(w io.Writer, version string) *JSON {
	j := &JSON{w: w, pretty: f.Pretty, depth: 1}
	j.b.WriteByte('{')
	j.newline()
	if version != "" {
		j.indent()
		j.b.WriteString(`"__version": "` + version + `", `)
		j.newline()
	}
	return j
}

// Object adds a named object (a container) that inside fills.
func (j *JSON) Object(name string, inside func()) {
	j.name(name, ", ", ": ")
	j.nest('{', '}', inside)
}

// List adds a named list that inside fills with [JSON.Item] or [JSON.Value].
func (j *JSON) List(name string, inside func()) {
	j.name(name, ", ", ": ")
	j.nest('[', ']', inside)
}

// Item adds an object to a list (an instance) that inside fills.
func (j *JSON) Item(inside func()) {
	j.next(", ")
	j.indent()
	j.nest('{', '}', inside)
}

// Field adds a named value to an object: a string, a number, a bool, or whatever
// [json.Marshal] takes.
func (j *JSON) Field(name string, value any) {
	j.name(name, ",", ":")
	j.value(value)
}

// Value adds a value to a list (of a leaf list).
func (j *JSON) Value(value any) {
	j.next(", ")
	j.indent()
	j.value(value)
}

// Flush writes what there is so far, for tools that go on. Errors are kept for Close.
func (j *JSON) Flush() {
	if j.err == nil {
		_, j.err = j.b.WriteTo(j.w)
	}
}

// Close ends the document and writes the rest. The error is the first of the writer's, or
// of a value that cannot be JSON.
func (j *JSON) Close() error {
	if j.more {
		j.newline()
	}
	j.b.WriteString("}\n")
	j.Flush()
	return j.err
}

// name begins a named value; the separators are those without blanks.
func (j *JSON) name(name, before, colon string) {
	j.next(before)
	j.indent()
	j.b.WriteString(`"` + name + `"`)
	if j.pretty {
		colon = ": "
	}
	j.b.WriteString(colon)
}

// next separates a value from the one before.
func (j *JSON) next(separator string) {
	switch {
	case j.more && j.pretty:
		j.b.WriteString(",\n")
	case j.more:
		j.b.WriteString(separator)
	}
	j.more = true
}

func (j *JSON) nest(begin, end byte, inside func()) {
	j.b.WriteByte(begin)
	j.newline()
	j.more = false
	j.depth++
	inside()
	j.depth--
	if j.more {
		j.newline()
	}
	j.indent()
	j.b.WriteByte(end)
	j.more = true
}

// value writes what stands behind a colon or in a list.
func (j *JSON) value(value any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if j.pretty {
		e.SetIndent(strings.Repeat(indentation, j.depth), indentation)
	}
	if err := e.Encode(value); err != nil {
		if j.err == nil {
			j.err = err
		}
		return
	}
	j.b.Write(bytes.TrimRight(b.Bytes(), "\n"))
}

// indentation of one level.
const indentation = "  "

func (j *JSON) indent() {
	if j.pretty {
		j.b.WriteString(strings.Repeat(indentation, j.depth))
	}
}

func (j *JSON) newline() {
	if j.pretty {
		j.b.WriteByte('\n')
	}
}

// Encode writes one value as a document of its own, for what is no object with a version.
func (f Format) Encode(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if f.Pretty {
		e.SetIndent("", indentation)
	}
	return e.Encode(value)
}
