package answer

import (
	"encoding/json"
	"fmt"
	"strings"

	"nbs-worker/internal/human"
)

// edit is one replacement in a file.
type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// writeEdits writes what an input changes in a file as a difference of lines, and removes it from the input.
func writeEdits(b *strings.Builder, in fields) {
	var several []edit
	if raw, has := in["edits"]; has && json.Unmarshal(raw, &several) == nil && len(several) > 0 {
		delete(in, "edits")
	}
	_, hasOld := in["old_string"]
	if _, hasNew := in["new_string"]; hasOld || hasNew {
		several = append(several, edit{Old: in.text("old_string"), New: in.text("new_string"), All: in.text("replace_all") == "true"})
		for _, name := range []string{"old_string", "new_string", "replace_all"} {
			delete(in, name)
		}
	}
	for _, name := range []string{"content", "new_source"} {
		if _, has := in[name]; has {
			several = append(several, edit{New: in.text(name)})
			delete(in, name)
		}
	}
	for i, e := range several {
		switch {
		case e.All:
			b.WriteString("each place of:\n")
		case len(several) > 1:
			fmt.Fprintf(b, "change %d:\n", i+1)
		}
		b.WriteString(human.Diff(e.Old, e.New))
	}
}
