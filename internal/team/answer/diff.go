package answer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
		writeDiff(b, linesOf(e.Old), linesOf(e.New))
	}
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// writeDiff writes two texts as one: "-" before lines that go, "+" before lines that come, " " before the others.
func writeDiff(b *strings.Builder, old, now []string) {
	start := 0
	for start < min(len(old), len(now)) && old[start] == now[start] {
		start++
	}
	end := 0
	for end < min(len(old), len(now))-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	same := func(lines []string) {
		for _, line := range lines {
			b.WriteString(" " + line + "\n")
		}
	}
	same(old[:start])
	writeChange(b, old[start:len(old)-end], now[start:len(now)-end])
	same(old[len(old)-end:])
}

const comparedLimit = 1 << 20 // pairs of lines; a larger change is shown as a whole

// writeChange writes the lines between the common beginning and the common end.
func writeChange(b *strings.Builder, old, now []string) {
	if len(old)*len(now) > comparedLimit {
		writeAll(b, '-', old)
		writeAll(b, '+', now)
		old, now = nil, nil
	}
	// common[i][j] is the number of lines that old[i:] and now[j:] have in common, in order.
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := range slices.Backward(old) {
		for j := range slices.Backward(now) {
			if old[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(old) && j < len(now) {
		switch {
		case old[i] == now[j]:
			b.WriteString(" " + old[i] + "\n")
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			b.WriteString("-" + old[i] + "\n")
			i++
		default:
			b.WriteString("+" + now[j] + "\n")
			j++
		}
	}
	writeAll(b, '-', old[i:])
	writeAll(b, '+', now[j:])
}

// writeAll writes lines after a mark.
func writeAll(b *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		b.WriteByte(mark)
		b.WriteString(line + "\n")
	}
}
