// Package altqtest tests disciplines: that packets are conserved under any
// workload, that any input and clock is survived and nothing starves, and what an
// enqueue and a dequeue cost. A discipline's tests call it.
//
//	func TestConservation(t *testing.T) { altqtest.Conservation(t, newDiscipline, 1, 2, 3) }
//	func FuzzDiscipline(f *testing.F)   { altqtest.Fuzz(f, newDiscipline, 1, 2, 3) }
//	func BenchmarkPRIQ4(b *testing.B)   { altqtest.Benchmark(b, newDiscipline(), 10e6, 1, 2, 3, 4) }
package altqtest
