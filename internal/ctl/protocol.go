package ctl

import "github.com/ifsim/ifsim/client"

// The protocol, which clients outside share.
type (
	Request      = client.Request
	Reply        = client.Reply
	PktgenParams = client.PktgenParams
	PktgenResult = client.PktgenResult
)
