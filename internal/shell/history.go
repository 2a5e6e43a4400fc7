package shell

import (
	"fmt"
	"os"
	"path/filepath"
)

// HistoryPath is the file of the user's history: ifsim/history in $XDG_STATE_HOME, else in
// .local/state of the home directory.
func HistoryPath() (string, error) {
	const envState = "XDG_STATE_HOME"
	state := os.Getenv(envState)
	// The specification has relative paths ignored.
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the history: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "ifsim", "history"), nil
}
