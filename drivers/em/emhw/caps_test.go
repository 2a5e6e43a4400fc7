package emhw_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/iflib/pci"
)

func TestCapabilitiesLieWhereTheDatasheetsSay(t *testing.T) {
	for chip, want := range map[string]string{
		"82574L":  "01[c8] 05[d0] 10[e0] 11[a0]",
		"82545EM": "01[dc] 07[e4]",
		"I217-V":  "01[c8] 05[d0] 13[e0]",
		"I219-LM": "01[c8] 05[d0]",
	} {
		b := newBoard(t, chip)
		var got []string
		for reg := int(b.fn.ReadConfig8(pci.RegCapPtr)); reg != 0; reg = int(b.fn.ReadConfig8(reg + 1)) {
			got = append(got, fmt.Sprintf("%02x[%02x]", b.fn.ReadConfig8(reg), reg))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s has %s, want %s", chip, s, want)
		}
	}
}
