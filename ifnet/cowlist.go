package ifnet

import (
	"slices"
	"sync/atomic"
)

// cowList is a list that is read for each packet and seldom changed: a change replaces
// the whole. Nil is the empty list, so that one load tells. Any goroutine.
type cowList[T any] struct{ atomic.Pointer[[]T] }

// change replaces the list by what f makes of a copy. f may run more than once.
func (l *cowList[T]) change(f func([]T) []T) {
	for {
		old := l.Load()
		var list []T
		if old != nil {
			list = slices.Clone(*old)
		}
		list = f(list)
		next := &list
		if len(list) == 0 {
			next = nil
		}
		if l.CompareAndSwap(old, next) {
			return
		}
	}
}
