package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

func TestAReportIsDrawnAsFarAsThereIsRoom(t *testing.T) {
	const report = "up 0+00:00:01\nCPU 0: busy\n\nQUEUE\nem0\n"
	for _, c := range []struct {
		width, height int
		want          string
	}{
		{80, 24, "\x1b[Hup 0+00:00:01\x1b[K\r\nCPU 0: busy\x1b[K\r\n\x1b[K\r\nQUEUE\x1b[K\r\nem0\x1b[K\x1b[J"},
		{3, 2, "\x1b[Hup \x1b[K\r\nCPU\x1b[K\x1b[J"},
		{0, 0, "\x1b[Hup 0+00:00:01\x1b[K\r\nCPU 0: busy\x1b[K\r\n\x1b[K\r\nQUEUE\x1b[K\r\nem0\x1b[K\x1b[J"},
	} {
		var b bytes.Buffer
		s := &screen{out: &b, size: func() (int, int, error) { return c.width, c.height, nil }}
		if n, err := s.Write([]byte(report)); n != len(report) || err != nil || b.String() != c.want {
			t.Errorf("%dx%d: %d, %v, %q", c.width, c.height, n, err, b.String())
		}
		b.Reset()
		if n, err := s.Write(nil); n != 0 || err != nil || b.Len() != 0 {
			t.Errorf("nothing is drawn as %q", b.String())
		}
	}
}

func TestKeysOfTop(t *testing.T) {
	for keys, want := range map[string]struct {
		quit  bool
		asked int32
	}{"q": {true, 0}, "xq": {true, 0}, "\x03": {true, 0}, "xd": {false, 1}, "": {false, 0}} {
		ctx, cancel := context.WithCancel(context.Background())
		typed := make(chan byte)
		keyboard, hands, err := os.Pipe()
		check(t, err)
		_, err = hands.WriteString(keys)
		check(t, err)
		read := make(chan struct{})
		go func() {
			defer close(read)
			readKeys(ctx, keyboard, typed)
		}()
		if keys == "" {
			cancel()
		}
		var asked atomic.Int32
		if quit := obey(ctx, typed, &asked, cancel); quit != want.quit || asked.Load() != want.asked || ctx.Err() == nil {
			t.Errorf("%q: quit %v, asked %d", keys, quit, asked.Load())
		}
		cancel()
		<-read
		hands.Close()
		keyboard.Close()
	}
}

func TestTopIsPlainWhenAskedTo(t *testing.T) {
	for args, want := range map[string]bool{"": false, "-n 2": false, "-b": true, "-bn2": true, "-o json": true, "--libxo json": true, "-d 2 -I em0": false} {
		if got := plain(strings.Fields(args)); got != want {
			t.Errorf("top %s: plain %v", args, got)
		}
	}
}
