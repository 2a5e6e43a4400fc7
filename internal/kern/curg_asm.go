//go:build amd64 || arm64

package kern

// curg identifies the running goroutine for lock ownership in checking mode.
// The number is unique among live goroutines and means nothing else. Asking the
// runtime for a stack trace instead costs microseconds a lock operation.
func curg() uintptr
