package kern

import (
	"fmt"
	"io"
	"sync"
)

// msgbufSize is the number of bytes that Dmesg keeps: half of FreeBSD's
// kern.msgbufsize, enough for the attach messages of dozens of NICs.
const msgbufSize = 64 << 10

// console is the system console and the message buffer behind dmesg(8).
type console struct {
	mu  sync.Mutex
	out io.Writer // nil: message buffer only
	buf []byte
}

// Printf writes one message to the console and the message buffer, whole: the
// text of two callers never mixes. A newline is the caller's business. A
// console that fails to write loses the message; the buffer keeps it.
func (k *Kernel) Printf(format string, a ...any) {
	msg := fmt.Appendf(nil, format, a...)
	c := &k.console
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buf = append(c.buf, msg...)
	if over := len(c.buf) - msgbufSize; over > 0 {
		c.buf = append(c.buf[:0], c.buf[over:]...)
	}
	if c.out != nil {
		_, _ = c.out.Write(msg)
	}
}

// Dmesg is the text of the message buffer, the last 64 KiB (dmesg(8)).
func (k *Kernel) Dmesg() string {
	k.console.mu.Lock()
	defer k.console.mu.Unlock()
	return string(k.console.buf)
}

// TakeDmesg is Dmesg, and empties the message buffer (dmesg -c).
func (k *Kernel) TakeDmesg() string {
	k.console.mu.Lock()
	defer k.console.mu.Unlock()
	text := string(k.console.buf)
	k.console.buf = k.console.buf[:0]
	return text
}
