package link

import (
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestComplaints(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]Complaint{
		"": {Kind: fail.NotFound, What: "it ended with exit code 2"},
		"a greeting\r\nnbs-worker: list: there is no project\n  in this folder\nhint: start one\nhint: or another\n": {
			Kind: fail.NotFound, What: "list: there is no project\n  in this folder", Hints: []string{"start one", "or another"}, Rest: []string{"a greeting"},
		},
		`{"note":"wait"}` + "\n" + `{"error":{"kind":"not found","message":"list: no project","hints":["start one"],"exit_code":2}}`: {
			Kind: fail.NotFound, What: "list: no project", Hints: []string{"start one"}, Rest: []string{`{"note":"wait"}`},
		},
	} {
		rig.Same(t, said, want, ReadComplaint(2, said))
	}
	for code, want := range map[int]fail.Kind{5: fail.Conflict, 130: fail.Interrupted, 137: fail.Failed, 9: fail.Failed} {
		rig.Equal(t, ReadComplaint(code, "").Kind, want, "exit code %d", code)
	}
}
