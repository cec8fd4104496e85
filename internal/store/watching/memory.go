package watching

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

const memoryLimit = 1 << 20 // bytes

// Recall decodes what the watch of the project has to remember. Before the first watch, into stays unchanged.
func (w *Watching) Recall(into any) error {
	data, err := w.memories.Read(w.memory, memoryLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		path := w.memories.Path(w.memory)
		return fail.Errorf(fail.BadInput, "read %s: %w", path, err).
			Hint("look at it, then remove it; the watch may then repeat some repairs and notices: rm %s", human.ShellWord(path))
	}
	return nil
}

// Remember replaces what the watch has to remember. A power cut may lose it.
func (w *Watching) Remember(memory any) error {
	if err := w.memories.HandOver(w.memory, memory, memoryLimit); err != nil {
		return fmt.Errorf("remember what was done: %w", err)
	}
	return nil
}
