package physmem

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// regionMode is the mode of a file created for the File backing: guest memory is
// nobody else's business.
const regionMode = 0o600

// region is the memory and what holds it.
type region struct {
	data   []byte
	file   *os.File // nil: data is Go memory
	zeroed bool     // data is known to hold zeros
}

func openRegion(cfg Config, size uint64) (region, error) {
	backing := cfg.Backing
	if backing == Auto {
		backing = defaultBacking
	}
	switch backing {
	case Heap:
		return region{data: heapBytes(size), zeroed: true}, nil
	case Memfd:
		f, err := sealedMemfd(size)
		if err != nil {
			return region{}, err
		}
		return mapFile(f, size, true)
	case File:
		if cfg.Path == "" {
			return region{}, fmt.Errorf("file backing without a path: %w", syscall.EINVAL)
		}
		f, err := os.OpenFile(cfg.Path, os.O_RDWR|os.O_CREATE, regionMode)
		if err != nil {
			return region{}, err
		}
		if err := f.Truncate(int64(size)); err != nil {
			return region{}, errors.Join(err, f.Close())
		}
		return mapFile(f, size, false)
	}
	return region{}, fmt.Errorf("unknown %v: %w", backing, syscall.EINVAL)
}

// sealedMemfd returns an anonymous file that nobody, a process it is passed to
// included, can shrink under our mapping.
func sealedMemfd(size uint64) (*os.File, error) {
	fd, err := unix.MemfdCreate("ifsim", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("creating memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memfd:ifsim")
	if err := f.Truncate(int64(size)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return nil, errors.Join(fmt.Errorf("sealing memfd: %w", err), f.Close())
	}
	return f, nil
}

func mapFile(f *os.File, size uint64, zeroed bool) (region, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return region{}, errors.Join(fmt.Errorf("mapping %d bytes of %s: %w", size, f.Name(), err), f.Close())
	}
	return region{data: data, file: f, zeroed: zeroed}, nil
}

func (r *region) close() error {
	if r.file == nil {
		r.data = nil
		return nil
	}
	err := unix.Munmap(r.data)
	if err != nil {
		err = fmt.Errorf("unmapping: %w", err)
	}
	err = errors.Join(err, r.file.Close())
	r.data, r.file = nil, nil
	return err
}
