package teamfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestOpen(t *testing.T) {
	t.Parallel()
	project, elsewhere := t.TempDir(), t.TempDir()
	_, err := Open(project, "")
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "%v", err)
	const text = "agents:\n  a: {prompt_file: tasks/a.md}\n  b: {prompt_file: tasks/a.md, settings: s.json}\n  c: {settings: s.json}\n"
	for _, folder := range []string{project, elsewhere} {
		write(t, filepath.Join(folder, "team.yaml"), text)
		write(t, filepath.Join(folder, "tasks/a.md"), "Begin.\n")
		write(t, filepath.Join(folder, "s.json"), "{ }")
	}
	parts := func(path string) string {
		source, err := Open(project, path)
		rig.Must(t, err)
		var all []string
		for _, part := range source.Parts() {
			all = append(all, part.Kind+" "+part.Name+" "+string(part.Text))
		}
		return strings.Join(all, "|")
	}
	rig.Equal(t, parts(""), "team team.yaml "+text+"|team-prompt tasks/a.md Begin.\n|team-settings s.json { }", "in the project")
	rig.Equal(t, parts(elsewhere+"/team.yaml"), "team "+elsewhere+"/team.yaml "+text+"|team-prompt "+elsewhere+"/tasks/a.md Begin.\n|team-settings "+elsewhere+"/s.json { }", "elsewhere")

	source, err := Open(project, "team.yaml")
	rig.Must(t, err)
	refused := func(kind string) error {
		return source.Check(func(of, name string, _ []byte) error {
			if of != kind {
				return nil
			}
			return fail.Errorf(fail.Held, "%s is not allowed", name)
		})
	}
	rig.Must(t, refused("none"))
	for _, kind := range []string{SealKind, PromptSealKind, SettingsSealKind} {
		err := refused(kind)
		rig.Check(t, fail.KindOf(err) == fail.Held && strings.HasSuffix(fail.HintsOf(err)[0], "nbs-worker allow --team"), "%s: %v", kind, err)
	}
}

// A mistake in a prompt file is told at the place that names it.
func TestPromptFilesThatAreWrong(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	write(t, filepath.Join(project, "blank"), " \n")
	write(t, filepath.Join(project, "leave"), "/exit")
	write(t, filepath.Join(project, "dir/x"), "")
	rig.Must(t, os.Symlink("/etc/hostname", filepath.Join(project, "out")))
	for name, want := range map[string]string{"none": "there is no such file", "blank": "the prompt is empty", "leave": "the command", "dir": "not a regular file", "out": "escapes"} {
		write(t, filepath.Join(project, "team.yaml"), "agents:\n  a:\n    prompt_file: "+name+"\n  b: {prompt_file: "+name+"}\n")
		_, err := Open(project, "")
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "line 3, column 18: a: prompt_file: ") && strings.Count(err.Error(), want) == 2, "%s: %v", name, err)
	}
}
