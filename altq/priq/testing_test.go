package priq_test

import (
	"fmt"

	"github.com/ifsim/ifsim/altq"
)

func classes(n int) string { return fmt.Sprintf("%dclasses", n) }

// qids are the numbers from 1 to n.
func qids(n int) []altq.QID {
	var q []altq.QID
	for i := range n {
		q = append(q, altq.QID(i+1))
	}
	return q
}
