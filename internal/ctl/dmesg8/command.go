// Package dmesg8 is dmesg(8): what a machine has printed on its console.
//
//	exit := dmesg8.Run(k, nil, os.Stdout, os.Stderr)
package dmesg8

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/getopt"
	"github.com/ifsim/ifsim/internal/kern"
)

const usageText = tool.Usage("usage: dmesg [-ac]\n")

// Run runs dmesg(8) with the arguments behind the command's name on a kernel's message
// buffer and returns its exit status: 0, or 1 with a message on stderr. Any goroutine.
func Run(k *kern.Kernel, args []string, stdout, stderr io.Writer) (exit int) {
	// -a shows what syslogd wrote too, which nothing here does.
	var all, empty bool
	flags := getopt.Flags{Plain: tool.Switches(map[byte]*bool{'a': &all, 'c': &empty})}
	rest, err := tool.Flags("dmesg", usageText, flags, args)
	if err == nil && len(rest) > 0 {
		err = usageText
	}
	if err == nil {
		text := k.Dmesg()
		if empty {
			text = k.TakeDmesg()
		}
		err = show(stdout, text)
	}
	return tool.Exit("dmesg", err, stderr)
}

// show prints text with what is not printable made visible (vis(3)), and with a newline
// at its end.
func show(w io.Writer, text string) error {
	var b strings.Builder
	for _, r := range text {
		const control, del = ' ', 0x7f
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < control:
			fmt.Fprintf(&b, `\^%c`, r|'@')
		case r == del:
			b.WriteString(`\^?`)
		default:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
