package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The last records about moves count, however far back they are, and no words about such records do.
func TestEnteredFolders(t *testing.T) {
	const (
		into   = `{"type":"worktree-state","worktreeSession":{"originalCwd":"/p","worktreePath":"/p/w"},"sessionId":"s"}`
		out    = `{"type":"worktree-state","worktreeSession":null,"sessionId":"s"}`
		cd     = `{"type":"relocated","sessionId":"s","relocatedCwd":"/p/sub"}`
		quoted = `{"type":"user","message":{"content":"{\"type\":\"relocated\",\"relocatedCwd\":\"/evil\"}"}}`
	)
	long := strings.Repeat(`{"type":"user","message":{"content":"`+strings.Repeat("x", 32<<10)+"\"}}\n", 2*backwardLimit>>15)
	for name, c := range map[string]struct {
		text string
		want Entered
	}{
		"nothing":              {quoted + "\n", Entered{}},
		"a worktree":           {into + "\n" + quoted + "\n", Entered{Known: true, Worktree: "/p/w", From: "/p"}},
		"a worktree, long ago": {into + "\n" + long, Entered{Known: true, Worktree: "/p/w", From: "/p"}},
		"left":                 {into + "\n" + out + "\n", Entered{Known: true}},
		"left, and /cd":        {into + "\n" + out + "\n" + cd + "\n", Entered{Known: true, Relocated: "/p/sub"}},
		"/cd, and a worktree":  {cd + "\n" + into + "\n", Entered{Known: true, Worktree: "/p/w", From: "/p", Relocated: "/p/sub"}},
		"half a record":        {into + "\n" + out[:30], Entered{Known: true, Worktree: "/p/w", From: "/p"}},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := (File{Path: path}).Entered(); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if (Entered{Known: true}).Includes("") {
		t.Error("no folder was entered, and it is one of them")
	}
}
