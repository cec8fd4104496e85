package turn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/sim/rig"
)

// A refused tool is reported by the turn that asked for it and by no other one. The rules of a folder that Claude does
// not trust itself do not count, and Claude's warning of that is reported once.
func TestRefusedTools(t *testing.T) {
	s := eachVersion(t)
	s.world.Project = filepath.Join(s.world.Project, "below") // the folder above is trusted
	rig.Must(t, os.MkdirAll(filepath.Join(s.world.Project, ".claude"), 0o700))
	rig.Must(t, os.WriteFile(filepath.Join(s.world.Project, ".claude", "settings.json"), []byte(`{"permissions":{"allow":["Write"]}}`), 0o600))
	p := s.start(Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet", Extra: []string{"--allowedTools=Read,Bash(git *)"}})
	file := filepath.Join(s.world.Project, "FILE")
	write := fmt.Sprintf(`[[tool Write {"content":"text","file_path":%q}]]`, file)
	o, _ := s.turn(p, write)
	rig.Check(t, len(o.Denials) == 1 && o.Denials[0] == Denial{"Write", file}, "denials %+v", o.Denials)
	rig.Check(t, strings.HasPrefix(o.Warning, "Ignoring 1 permissions.allow entry from .claude/settings.json"), "warning %q", o.Warning)
	o, _ = s.turn(p, `[[tool Bash {"command":"git init -q inner"}]]`)
	_, err := os.Stat(filepath.Join(s.world.Project, "inner"))
	rig.Check(t, err == nil && len(o.Denials) == 0 && o.Warning == "", "a permitted tool: %v, %+v", err, o)
	s.close(p)
}

func TestWhatARefusedToolWasToActOn(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"command":"git push\n  --force","description":"Push"}`: "git push --force",
		`{"content":"text","file_path":"/tmp/FILE"}`:             "/tmp/FILE",
		`{"first":1}`: `{"first":1}`,
		`{"url":"https://example.com/` + strings.Repeat("x", 300) + `"}`: "https://example.com/" + strings.Repeat("x", 177) + "…",
		``: "",
	} {
		var r result
		r.Denials = append(r.Denials, struct {
			Tool  string          `json:"tool_name"`
			Input json.RawMessage `json:"tool_input"`
		}{"Bash", json.RawMessage(input)})
		rig.Same(t, input, want, r.denials()[0].Input)
	}
}
