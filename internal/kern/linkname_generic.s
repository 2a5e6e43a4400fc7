//go:build !amd64 && !arm64

// An assembly file lets critical_unsafe.go declare functions without bodies.
