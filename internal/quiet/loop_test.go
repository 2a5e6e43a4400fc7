package quiet

import "testing"

func TestLoopsTakeTime(t *testing.T) {
	var sink uint64
	if a, b := Loop(&sink, Rounds), Cycle(&sink, Rounds); a <= 0 || b <= 0 || sink == 0 {
		t.Errorf("%v ns a round, %v ns a cycle, result %d", a, b, sink)
	}
}
