package ctl

import (
	"context"

	"github.com/ifsim/ifsim/client"
)

// The protocol, which clients outside share.
type (
	Request      = client.Request
	Reply        = client.Reply
	PktgenParams = client.PktgenParams
	PktgenResult = client.PktgenResult
)

// Do asks the machine at path, as [client.Client.Do] does.
func Do(ctx context.Context, path string, req Request) (Reply, error) {
	c, err := client.New(path)
	if err != nil {
		return Reply{}, err
	}
	return c.Do(ctx, req)
}
