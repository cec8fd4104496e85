package transcript

import (
	"slices"
	"strings"
)

// ofTask is the origin of a text with which Claude tells itself that a background task has ended.
const ofTask = "task-notification"

// Unasked returns what Claude said by itself, when background tasks had ended, since the last text of the user, oldest
// first.
func (t File) Unasked() (all []string, err error) {
	var words []string // of the turn, so far
	whole := false     // what stands before them was said before a tool was used
	err = t.eachBackward(func(r *conversationRecord) bool {
		switch {
		case r.IsSidechain:
		case r.Type == "assistant" && !r.IsAPIError && !whole && r.message().Model != synthetic:
			for _, b := range slices.Backward(blocksOf(r.message().Content)) {
				whole = whole || b.Type == "tool_use" || b.Type == "server_tool_use"
				if b.Type == "text" && !whole {
					words = append(words, b.Text)
				}
			}
		case r.Type == "user" && r.Origin.Kind == ofTask:
			slices.Reverse(words)
			if text := strings.TrimSpace(strings.Join(words, "\n")); text != "" {
				all = append(all, text)
			}
			words, whole = nil, false
		case r.opensTurn():
			return false
		}
		return true
	})
	slices.Reverse(all)
	return all, err
}
