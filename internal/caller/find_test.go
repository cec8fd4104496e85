package caller

import (
	"testing"

	"nbs-worker/internal/agent"
)

// Only a record that may name the caller is understood: none may be passed over that does.
func TestRecordsThatMayNameAnAncestor(t *testing.T) {
	t.Parallel()
	line := []ancestor{{pid: 70}, {pid: 71, mark: "mark-1", handle: "Editor"}, {pid: 1}}
	for text, want := range map[string]bool{
		`{"pid":71}`: true, `{"process": {"launcher": {"pid":   71}}}`: true, `{"pid": 1,"x":2}`: true,
		`{"exits": [{"invocation": "mark-1"}]}`: true,
		`{"pid": 711, "schema": 1}`:             false, `{"pid":17}`: false, `{"ppid": 71}`: false, `{"pid":`: false, "": false,
	} {
		if got := mayName(line, "writer", []byte(text)); got != want {
			t.Errorf("%s: %v; want %v", text, got, want)
		}
	}
	for handle, want := range map[agent.Handle]bool{"editor": true, "writer": false} {
		if got := mayName(line, handle, []byte("{}")); got != want {
			t.Errorf("%s: %v; want %v", handle, got, want)
		}
	}
}
