package altq

import "syscall"

// Errors of queues and disciplines (spec altq 1.2, 1.3, 2). They are errnos, to be
// compared with errors.Is.
var (
	// ErrNotReady: the interface does not support ALTQ.
	ErrNotReady error = syscall.ENXIO
	// ErrEnabled: the discipline is in use.
	ErrEnabled error = syscall.EBUSY
	// ErrDropped: a packet was dropped.
	ErrDropped error = syscall.ENOBUFS
	// ErrOtherDiscipline: the interface runs another discipline.
	ErrOtherDiscipline error = syscall.EBADF
	// ErrNoQueue: there is no queue with that number.
	ErrNoQueue error = syscall.EINVAL
	// ErrConfig: a queue cannot be as configured.
	ErrConfig error = syscall.EINVAL
	// ErrInUse: the number or priority of a queue is taken.
	ErrInUse error = syscall.EBUSY
	// ErrTooMany: the discipline has no room for another queue.
	ErrTooMany error = syscall.ENOMEM
	// ErrNoTBR: there is no regulator to remove.
	ErrNoTBR error = syscall.ENOENT
)
