package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Result is what a tool has printed, in full or a part of it.
type Result struct {
	Stdout, Stderr []byte
	Exit           int // status, once the tool has ended
}

// Run runs a tool in the machine as a shell would, and waits for its end. The result has
// all that it printed, with an error too. Errors are those of [Client.Do], [*Refused], and
// [*Exit] for a status other than 0. [Client.Follow] is for tools that do not end.
func (c *Client) Run(ctx context.Context, command string, args ...string) (Result, error) {
	var all Result
	status, err := c.follow(ctx, all.add, command, args)
	all.Exit = status
	if exit := (*Exit)(nil); errors.As(err, &exit) {
		exit.Stderr = string(all.Stderr)
	}
	return all, err
}

// add appends what a part has printed.
func (r *Result) add(part Result) {
	r.Stdout = append(r.Stdout, part.Stdout...)
	r.Stderr = append(r.Stderr, part.Stderr...)
}

// Follow runs a tool that goes on, as netstat -w 1 does, and calls show with each part of
// what it prints, on the caller's goroutine. The tool ends by itself, or with ctx, which
// show may cancel; the error is ctx's then, else as of [Client.Run]. While show runs the
// machine waits, for 10 seconds at most.
func (c *Client) Follow(ctx context.Context, show func(part Result), command string, args ...string) error {
	_, err := c.follow(ctx, show, command, args)
	return err
}

// follow is Follow with the tool's status.
func (c *Client) follow(ctx context.Context, show func(part Result), command string, args []string) (status int, err error) {
	reply, err := c.Do(ctx, Request{Command: command, Args: args, Dir: c.Dir, Partial: func(r Reply) { show(r.result()) }})
	if len(reply.Stdout)+len(reply.Stderr) > 0 {
		show(reply.result())
	}
	if err == nil {
		err = reply.refusal()
	}
	if err == nil && reply.Exit != 0 {
		err = &Exit{Command: command, Status: reply.Exit, Stderr: string(reply.Stderr)}
	}
	return reply.Exit, err
}

// JSON runs a tool whose arguments ask for JSON (-o json), and decodes what it prints into
// v. Errors are as of [Client.Run], and those of encoding/json.
func (c *Client) JSON(ctx context.Context, v any, command string, args ...string) error {
	r, err := c.Run(ctx, command, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(r.Stdout, v); err != nil {
		return fmt.Errorf("what %s prints is not understood: %w", command, err)
	}
	return nil
}

// Sysctl is the value of a variable, as sysctl -n prints it. Errors are as of [Client.Run].
func (c *Client) Sysctl(ctx context.Context, name string) (string, error) {
	if strings.Contains(name, "=") {
		return "", fmt.Errorf("%q is not the name of a variable", name)
	}
	r, err := c.Run(ctx, "sysctl", "-n", "--", name)
	return strings.TrimSuffix(string(r.Stdout), "\n"), err
}

// SetSysctl gives a variable a value. Errors are as of [Client.Run].
func (c *Client) SetSysctl(ctx context.Context, name, value string) error {
	_, err := c.Run(ctx, "sysctl", "-q", "--", name+"="+value)
	return err
}

// Pktgen sends frames from an interface and waits until the hardware has sent the last one.
// The result is as far as it came, with an error too. Errors are those of [Client.Do], and
// [*Refused] with what went wrong.
func (c *Client) Pktgen(ctx context.Context, p PktgenParams) (PktgenResult, error) {
	reply, err := c.Do(ctx, Request{Command: "pktgen", Pktgen: &p})
	if err == nil {
		err = reply.refusal()
	}
	if reply.Pktgen == nil {
		return PktgenResult{}, err
	}
	return *reply.Pktgen, err
}

func (r Reply) result() Result { return Result{Stdout: r.Stdout, Stderr: r.Stderr, Exit: r.Exit} }

// refusal is why the request was not carried out, nil if it was.
func (r Reply) refusal() error {
	if r.Error == "" {
		return nil
	}
	return &Refused{Reason: r.Error, Again: r.Again}
}
