package metrics

import "strings"

// MetricOf is the metric of a variable of a queue, by the names from the node iflib or ifsim.
func MetricOf(node string, parts []string) (name string, ok bool) {
	leaves := rxqLeaves
	switch {
	case len(parts) == 3:
		leaves = freeListLeaves
	case strings.HasPrefix(parts[0], "txq") && node == "ifsim":
		leaves = txqOwnLeaves
	case strings.HasPrefix(parts[0], "txq"):
		leaves = txqLeaves
	}
	for _, l := range leaves {
		if l.name == parts[len(parts)-1] {
			return namespace + l.family.name, true
		}
	}
	return "", false
}
