// Package tool is what FreeBSD's command line tools have in common: how they take flags,
// how they complain (err(3)), and with which status they end.
//
//	args, err := tool.Flags("kenv", usageText, flags, args)
//	if err == nil {
//		err = run(args)
//	}
//	return tool.Exit("kenv", err, stderr)
package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ifsim/ifsim/internal/getopt"
)

// Failure is the exit status of a failure that has no other.
const Failure = 1

// Usage is a command line that makes no sense; the text is all that is printed.
type Usage string

func (u Usage) Error() string { return string(u) }

// message is an error in FreeBSD's words, whatever their style.
type message string

func (m message) Error() string { return string(m) }

// Messagef is an error that says what FreeBSD says (errx(3)).
func Messagef(format string, a ...any) error { return message(fmt.Sprintf(format, a...)) }

// said is an error with a text of its own.
type said struct {
	message
	err error
}

func (s said) Unwrap() error { return s.err }

// Sayf is Messagef for an error that err is the reason of, which the text need not tell.
func Sayf(err error, format string, a ...any) error {
	return said{message(fmt.Sprintf(format, a...)), err}
}

// Status is a failure that ends a tool with a status of its own (errx(3)).
type Status struct {
	Code int
	// Err is what the tool says; nil: it has said everything.
	Err error
}

func (s Status) Error() string {
	if s.Err == nil {
		return fmt.Sprintf("exit status %d", s.Code)
	}
	return s.Err.Error()
}

func (s Status) Unwrap() error { return s.Err }

// Exit prints what a tool has to say of its error, if anything, and returns the exit
// status: 0 for nil, a [Status]'s own, else [Failure].
func Exit(name string, err error, stderr io.Writer) (exit int) {
	if err == nil {
		return 0
	}
	exit = Failure
	if s := (Status{}); errors.As(err, &s) {
		exit, err = s.Code, s.Err
	}
	if u := Usage(""); errors.As(err, &u) {
		fmt.Fprint(stderr, string(u))
	} else if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
	}
	return exit
}

// Flags takes a tool's flags off its arguments and returns the rest. A flag that the tool
// does not have is a [Usage], as getopt(3) and the tool say it; other errors are Value's.
func Flags(name string, usage Usage, flags getopt.Flags, args []string) (rest []string, err error) {
	rest, err = flags.Parse(args)
	if bad, ok := err.(getopt.Error); ok {
		return nil, Usage(fmt.Sprintf("%s: %v\n%s", name, bad, usage))
	}
	return rest, err
}

// IO is what a tool that goes on prints to and waits with.
type IO struct {
	Stdout, Stderr io.Writer
	// Flush shows what has been written so far, before a pause; nil does nothing.
	Flush func()
	// Wait waits for d; an error ends the tool, without a word.
	Wait func(ctx context.Context, d time.Duration) error
	// Open opens a file that the arguments name.
	Open func(name string) (io.ReadCloser, error)
}

// Pause shows what there is and waits. The error is Wait's.
func (s IO) Pause(ctx context.Context, d time.Duration) error {
	if s.Flush != nil {
		s.Flush()
	}
	return s.Wait(ctx, d)
}

// Switches takes flags that only turn something on, for [getopt.Flags].
func Switches(flags map[byte]*bool) func(f byte) bool {
	return func(f byte) bool {
		on, ok := flags[f]
		if ok {
			*on = true
		}
		return ok
	}
}
