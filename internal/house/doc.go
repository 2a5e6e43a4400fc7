// Package house holds the tests that keep the architecture: a package imports
// only packages on lower floors, a driver never imports its hardware, and there
// is no mutable package-level state. The floors are those of
// docs/architecture.md.
package house
