package client

import (
	"bufio"
	"strings"
	"testing"
)

// FuzzReply reads replies of something that may not be a machine.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"stdout":"YQ==","exit":0}` + "\n", `{"version":1,"exit":0,"pktgen":{"frames":1,"rtt":{}}}` + "\n",
		"{}\n", "null\n", "[]\n", `{"version":1,"stdout":"?"}` + "\n", "{", "", "\n", `{"version":1}{}` + "\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		reply, err := receive(bufio.NewReader(strings.NewReader(text)))
		if err == nil && (reply.Version != Version || !strings.Contains(text, "\n")) {
			t.Errorf("%q was taken as %+v", text, reply)
		}
	})
}
