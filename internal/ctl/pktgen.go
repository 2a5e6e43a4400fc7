package ctl

import (
	"github.com/ifsim/ifsim/internal/ctl/pktgen8"
)

// runPktgen is pktgen told by an object: the reply has one too, and so have those before it
// if there are to be reports.
func (c *call) runPktgen() (reply Reply) {
	res, err := c.pktgen.Do(c.ctx, *c.req.Pktgen, c.wait, func(r pktgen8.Report) {
		c.partial(Reply{Pktgen: &r.Total, More: true})
	})
	reply.Pktgen = &res
	if err != nil {
		reply.Error, reply.Exit = err.Error(), 1
	}
	return reply
}
