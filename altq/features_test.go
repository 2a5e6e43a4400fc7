package altq_test

import (
	"testing"

	"github.com/ifsim/ifsim/altq"
	"github.com/ifsim/ifsim/altq/altqtest"
)

func TestFeaturesAreShown(t *testing.T) {
	k := altqtest.Kernel(t, true)
	if err := altq.Init(k); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cbq", "codel", "red", "rio", "hfsc", "priq", "fairq"} {
		if s, err := k.Sysctl.Text("kern.features.altq." + name); err != nil || s != "1" {
			t.Errorf("%s reads %q, %v", name, s, err)
		}
	}
}
