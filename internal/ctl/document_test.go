package ctl

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/client"
)

// document is docs/control.md, the schema that clients are written from.
func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/control.md")
	must(t, err)
	return string(text)
}

// rows are the names in the first column of the nth table.
func rows(t *testing.T, text string, nth int) []string {
	t.Helper()
	table := regexp.MustCompile(`(?m)(?:^\|.*\n)+`).FindAllString(text, -1)[nth]
	var names []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)`").FindAllStringSubmatch(table, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// fields are the JSON names of a struct's fields.
func fields(v any) []string {
	var names []string
	for i := range reflect.TypeOf(v).NumField() {
		if name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestTheDocumentHasEveryFieldAndCommand(t *testing.T) {
	text := document(t)
	commands := slices.Sorted(maps.Keys(tools))
	for i, want := range [][]string{fields(Request{}), commands, fields(PktgenParams{}), fields(Reply{}), fields(PktgenResult{}), fields(client.PktgenRTT{})} {
		if got := rows(t, text, i); !slices.Equal(got, want) {
			t.Errorf("table %d has %q, want %q", i, got, want)
		}
	}
}

func TestTheExamplesOfTheDocumentAreUnderstood(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```json (request|reply)\n(.*?)```").FindAllStringSubmatch(document(t), -1)
	for _, b := range blocks {
		if b[1] == "request" {
			if _, err := decode([]byte(b[2])); err != nil {
				t.Errorf("%s: %v", b[2], err)
			}
			continue
		}
		var r Reply
		d := json.NewDecoder(strings.NewReader(b[2]))
		d.DisallowUnknownFields()
		must(t, d.Decode(&r))
		if got := string(encode(r)); got != b[2] {
			t.Errorf("%s is encoded as %s", b[2], got)
		}
	}
	if len(blocks) != 6 {
		t.Errorf("%d examples", len(blocks))
	}
}

func TestTheDocumentHasTheLimits(t *testing.T) {
	text := strings.Join(strings.Fields(document(t)), " ")
	for _, s := range []string{
		"At most 65536 bytes", errBusy.Error(), fmt.Sprintf("within %.0f seconds", requestTime.Seconds()), fmt.Sprintf("up to %.0f seconds", doorTime.Seconds()),
		"waiting for 100 ms", "a reply must be taken within 10", "may print 8 MiB", "at most 64 MiB",
	} {
		if !strings.Contains(text, s) {
			t.Errorf("the document does not say %q", s)
		}
	}
	if client.MaxRequest != 65536 || silentTime.Milliseconds() != 100 || replyTime.Seconds() != 10 || client.MaxOutput != 8<<20 || maxHeld != 64<<20 {
		t.Error("the document says something else")
	}
}
