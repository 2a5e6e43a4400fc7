package mbuf

import (
	"sync"
	"testing"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
)

// threaded is a kernel of several threads on the real clock.
func threaded(t testing.TB) *Zones {
	t.Helper()
	k, err := kern.New(kern.Config{NCPU: 2, Mem: physmem.Config{Size: testMem}, Invariants: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	z, err := Init(k, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// Senders allocate from their caches, reclaimers free into theirs, some packets are shared between both, and
// statistics are read meanwhile.
func TestMagazinesMoveBetweenCachesOfManyOwners(t *testing.T) {
	const pairs, packets = 3, 3000
	z := threaded(t)
	var owners, readers sync.WaitGroup
	stop := make(chan struct{})
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				z.Stats()
			}
		}
	})
	for p := range pairs {
		ring := make(chan *Mbuf, 100)
		owners.Go(func() {
			c := z.NewCache()
			defer c.Close()
			defer close(ring)
			for i := range packets {
				var hdr [42]byte
				hdr[0] = byte(i)
				m := chain2(c, &hdr)
				if i%5 == p {
					ring <- c.CopyPacket(m) // both sides drop references to one cluster
				}
				if i%7 == 0 {
					c.FreeChain(m)
					continue
				}
				ring <- m
			}
		})
		owners.Go(func() {
			c := z.NewCache()
			defer c.Close()
			i := 0
			for m := range ring {
				if i++; i%3 == 0 {
					FreeChain(m)
				} else {
					c.FreeChain(m)
				}
			}
		})
	}
	owners.Wait()
	close(stop)
	readers.Wait()
	noLeak(t, z)
	if s := z.Stats(); s.Packet.Requests != pairs*packets {
		t.Errorf("%d packets requested, want %d", s.Packet.Requests, pairs*packets)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	z := machine(t, false, Config{})
	send, reclaim := cache(t, z), cache(t, z)
	var hdr [42]byte
	var ring [300]*Mbuf
	round := func() {
		for i := range ring {
			ring[i] = chain2(send, &hdr)
		}
		for _, m := range ring {
			reclaim.FreeChain(m)
		}
	}
	round()
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	noLeak(t, z)
}

func TestPlainFreeMayRunInsideAFreeCallback(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	inner, m := c.GetCl(0), c.Get()
	cl, ok := c.AllocCluster(MJum9Bytes)
	if !ok || !c.ExtAdd(m, cl.Addr(), cl.Size(), func(arg any) { Free(arg.(*Mbuf)) }, inner) {
		t.Fatal("no memory")
	}
	if m.ExtType() != ExtNetDrv || m.Size() != MJum9Bytes || m.BusAddr() != cl.Addr() {
		t.Fatalf("foreign storage: type %d size %d", m.ExtType(), m.Size())
	}
	Free(m)
	c.FreeCluster(cl)
	noLeak(t, z)
}

func TestForeignStorageIsFreedByTheLastReference(t *testing.T) {
	z := machine(t, true, Config{})
	c, other := cache(t, z), cache(t, z)
	cl, _ := c.AllocCluster(MClBytes)
	freed := 0
	m := c.GetHdr()
	c.ExtAdd(m, cl.Addr(), MClBytes, func(any) { freed++ }, nil)
	m.SetLen(100)
	m.FixHdr()
	p := c.CopyPacket(m)
	c.Free(m)
	if u := z.Usage(); freed != 0 || u.Mbufs != 2 || u.ExtRefs != 1 {
		t.Fatalf("freed %d times with a reference left, in use %+v", freed, u)
	}
	other.Free(p)
	if freed != 1 {
		t.Fatalf("freed %d times", freed)
	}
	c.FreeCluster(cl)
	noLeak(t, z)
}

func TestClusterMovesBetweenFreeListAndMbuf(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	for _, size := range []int{MClBytes, MJumPageSize, MJum9Bytes, MJum16Bytes} {
		cl, ok := c.AllocCluster(size)
		if !ok || cl.Size() != size || len(cl.Bytes()) != size || !cl.Valid() {
			t.Fatalf("cluster of %d: %v", size, ok)
		}
		m := c.GetHdr()
		c.AttachCluster(m, cl)
		if m.BusAddr() != cl.Addr() || m.Size() != size || m.Refs() != 1 {
			t.Fatalf("attached cluster of %d: size %d", size, m.Size())
		}
		if _, ok := c.TakeCluster(m); !ok || m.Size() != MHLen || m.Flags != FlagPktHdr {
			t.Fatalf("taken cluster of %d: size %d flags %#x", size, m.Size(), m.Flags)
		}
		c.AttachCluster(m, cl)
		p := c.CopyPacket(m)
		if _, ok := c.TakeCluster(m); ok {
			t.Fatal("shared cluster taken")
		}
		c.Free(p)
		c.Free(m)
	}
	m := c.GetCl(0)
	if _, ok := c.TakeCluster(m); ok {
		t.Fatal("cluster of the packet zone taken")
	}
	c.Free(m)
	noLeak(t, z)
}

func TestGetChoosesTheSmallestBuffer(t *testing.T) {
	z := machine(t, true, Config{})
	c := cache(t, z)
	for _, row := range []struct {
		size  int
		flags Flags
		want  int
	}{
		{0, 0, MLen}, {160, FlagPktHdr, MHLen}, {161, FlagPktHdr, MClBytes}, {161, 0, MLen}, {224, 0, MLen},
		{225, 0, MClBytes}, {2048, 0, MClBytes}, {2049, FlagPktHdr, MJumPageSize}, {4096, 0, MJumPageSize}, {4097, 0, 0},
	} {
		got := 0
		if m := c.Get2(row.size, row.flags); m != nil {
			got = m.Size()
			c.Free(m)
		}
		if got != row.want {
			t.Errorf("Get2(%d, %#x): buffer of %d, want %d", row.size, row.flags, got, row.want)
		}
	}
	for size, want := range map[int]int{4097: MJum9Bytes, 9217: MJum16Bytes, 16385: 0} {
		got := 0
		if m := c.Get3(size, 0); m != nil {
			got = m.Size()
			c.Free(m)
		}
		if got != want {
			t.Errorf("Get3(%d): buffer of %d, want %d", size, got, want)
		}
	}
	noLeak(t, z)
}
