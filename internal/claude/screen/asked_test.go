package screen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// What is asked is the same on a wide terminal and on a narrow one, which wraps it.
func TestWhatADialogAsks(t *testing.T) {
	t.Parallel()
	const servers = "MCP servers may execute code or access system resources. All tool calls require approval. Learn more in the MCP documentation."
	for name, want := range map[string]agent.Asked{
		"2.1.329/permission-bash": {Text: "Bash command\nmake it\ntouch one\nDo you want to proceed?", Choices: []string{
			"Yes", "Yes, and always allow access to /srv/lab/project from this project",
			"Yes, and switch to auto mode · auto mode handles these prompts for you", "No",
		}},
		"2.1.197/permission-bash":  {Text: "Bash command\ntouch one\nmake it\nDo you want to proceed?", Choices: []string{"Yes", "Yes, and always allow access to project/ from this project", "No"}},
		"2.1.197/permission-write": {Text: "Create file\nw.txt\n1 hello\n2 ────────────────────\n3 ❯\n4 world\nDo you want to create w.txt?", Choices: []string{"Yes", "Yes, allow all edits during this session (shift+tab)", "No"}},
		"2.1.329/questions":        {Text: "←  ☐ Way  ☐ When  ✔ Submit  →\nWhich way?", Choices: []string{"[ ] Left", "[ ] Right", "[ ] Type something", "Chat about this"}},
		"2.1.197/start-mcp":        {Text: "New MCP server found in this project: lab\n" + servers, Choices: []string{"Use this MCP server", "Use this and all future MCP servers in this project", "Continue without using this MCP server"}},
		"2.1.332/start-mcp":        {Text: "New MCP server found in this project: lab\n" + servers, Choices: []string{"Use this MCP server", "Use this and all future MCP servers in this project", "Continue without using this MCP server"}},
	} {
		for _, size := range []string{"-80x24.txt", "-40x24.txt"} {
			got := Read(screen(t, name+size)).Asked
			if got == nil {
				t.Errorf("%s: nothing is asked", name+size)
				continue
			}
			diff := cmp.Diff(want, *got)
			rig.Check(t, diff == "", "%s: -want +got:\n%s", name+size, diff)
		}
	}
}

// A part of a key is not repeated, and a long command does not hide the question.
func TestWhatIsLeftOutOfAQuestion(t *testing.T) {
	t.Parallel()
	got := Read(screen(t, "2.1.329/api-key-dialog.txt")).Asked.String()
	rig.Equal(t, got, "Detected a custom API key in your environment · Do you want to use this API key? [Yes / No (recommended)]", "the key's dialog")
	got = Read(screen(t, "2.1.329/permission-long-80x24.txt")).Asked.Text
	rig.Check(t, len([]rune(got)) < 700 && strings.Contains(got, "…") && strings.HasSuffix(got, "\nDo you want to proceed?"), "%s", got)
}
