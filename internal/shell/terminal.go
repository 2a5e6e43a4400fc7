package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/peterh/liner"
)

// Modes of the history's file and directories: they are the user's own.
const (
	historyMode    = 0o600
	historyDirMode = 0o700
)

// Terminal is an [Input] with editing, history and completion. One goroutine.
type Terminal struct {
	line    *liner.State
	console *Console
	prompt  string
	history string // file, "" for none
	last    string
}

// Choose finds what the last word of a command line may become; argv are the words before
// it, none for a command's name. open: such a word may go on.
type Choose func(argv []string, word string) (words []string, open bool)

// NewTerminal takes the process's terminal. The history is in a file, "" for none; one that
// cannot be read is as if it were empty.
func NewTerminal(prompt, history string, console *Console, choose Choose) *Terminal {
	t := &Terminal{line: liner.NewLiner(), console: console, prompt: prompt, history: history}
	t.line.SetCtrlCAborts(true)
	t.line.SetTabCompletionStyle(liner.TabPrints)
	t.line.SetWordCompleter(func(line string, pos int) (string, []string, string) {
		head, words := Completions(choose, line[:bytePos(line, pos)])
		return head, words, line[bytePos(line, pos):]
	})
	if f, err := os.Open(history); err == nil {
		_, _ = t.line.ReadHistory(f)
		f.Close()
	}
	return t
}

// bytePos is where the rune at pos of a line begins.
func bytePos(line string, pos int) int {
	for i := range line {
		if pos == 0 {
			return i
		}
		pos--
	}
	return len(line)
}

// Line asks for a line.
func (t *Terminal) Line() (string, error) {
	t.console.prompting(func() { _ = syscall.Kill(os.Getpid(), syscall.SIGWINCH) })
	line, err := t.line.Prompt(t.prompt)
	t.console.typed()
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", ErrInterrupted
	}
	if strings.TrimSpace(line) != "" && line != t.last {
		t.line.AppendHistory(line)
		t.last = line
	}
	return line, err
}

// Close gives the terminal back as it was, and keeps the history.
func (t *Terminal) Close() error {
	err := t.line.Close()
	if t.history == "" {
		return err
	}
	return errors.Join(err, t.save())
}

// save writes the history's file: a new one in place of the old, so that none is lost.
func (t *Terminal) save() error {
	err := os.MkdirAll(filepath.Dir(t.history), historyDirMode)
	fresh := fmt.Sprintf("%s.%d", t.history, os.Getpid())
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fs.FileMode(historyMode))
	}
	if err == nil {
		_, err = t.line.WriteHistory(f)
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = os.Rename(fresh, t.history)
	}
	if err != nil {
		return fmt.Errorf("keeping the history: %w", err)
	}
	return nil
}
