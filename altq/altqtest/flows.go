package altqtest

import (
	"time"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqsim"
)

// Flow is a source of evenly spaced frames, and what it should get.
type Flow struct {
	QID  altq.QID
	Hash uint32
	// Size of a frame in bytes, 0 for 1514.
	Size int
	// Rate and Want are in bits a second.
	Rate, Want float64
}

// StartFlows starts flows a few hundred microseconds apart, so that they do not move
// in step.
func StartFlows(l *altqsim.Link, flows []Flow) (started []*altqsim.Flow) {
	const (
		frame = 1514
		apart = 300 * time.Microsecond
	)
	for i, f := range flows {
		if f.Size == 0 {
			f.Size = frame
		}
		started = append(started, l.Add(altqsim.Source{
			QID: f.QID, Hash: f.Hash, Size: f.Size, Rate: f.Rate, Start: time.Duration(i) * apart,
		}))
	}
	return started
}
