package brief

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// The notes are said to be from what they are from, and what was left out is said, whichever program made them.
func TestSourceOfNotes(t *testing.T) {
	t.Parallel()
	in, err := store.Create(rig.MemoryDir(t))
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, in.Close()) })
	rig.Must(t, os.WriteFile(in.MemoryFile(), nil, 0o600))
	this, err := os.Executable()
	rig.Must(t, err)
	o, r := &observe.Observer{Store: in}, &agent.Record{Spec: agent.Spec{Handle: "alpha", SessionID: old, ConfigDir: t.TempDir()}}
	for what, c := range map[string]struct {
		out, errs string
		code      int
		want      Source
		missed    string
	}{
		"both":                 {out: `{"text":"N","from":["memory","transcript"]}`, want: Source{Memory: true, Transcript: true}},
		"nothing remembered":   {out: `{"text":"N","from":["transcript"]}`, want: Source{Transcript: true}},
		"an unread transcript": {out: `{"text":"N","from":["memory"]}`, errs: `{"note":"note: read the transcript: no"}`, want: Source{Memory: true}, missed: "read the transcript: no"},
		"a refusal":            {errs: `{"error":{"message":"it is not allowed"}}`, code: 8, missed: "what is remembered cannot be read: it is not allowed"},
		"a crash":              {errs: `panic: oh`, code: 2, missed: "what is remembered cannot be read: panic: oh"},
	} {
		script := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' memory brief alpha '*' --json '*) ;; *) exit 9 ;; esac\necho '%s'\necho '%s' >&2\nexit %d\n", c.out, c.errs, c.code)
		rig.Must(t, os.WriteFile(filepath.Join(filepath.Dir(this), "nbs-worker-services"), []byte(script), 0o700))
		text, from := Text(t.Context(), o, r, Wanted{SessionID: old})
		missed := ""
		if from.Missed != nil {
			missed, from.Missed = from.Missed.Error(), nil
		}
		rig.Check(t, from == c.want && missed == c.missed && (text == "N") == (c.code == 0), "%s: %+v, %q: %q", what, from, missed, text)
	}
}
