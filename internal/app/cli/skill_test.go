package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/caller"
)

// skillPage returns the page as it is printed, its part for Claude and its body.
func skillPage(t *testing.T) (head, body string) {
	t.Helper()
	text := run("skill", "show").want(t, 0).out
	rest, is := strings.CutPrefix(text, "---\n")
	head, body, hasBody := strings.Cut(rest, "\n---\n\n")
	rig.Check(t, is && hasBody, "no front matter: %s", text)
	rig.Check(t, strings.Count(text, "\n") <= 150, "%d lines", strings.Count(text, "\n"))
	return head, body
}

// The page is short, and an agent that has only this page can rely on it: each command is one of the program and can be
// parsed, each other name is there too, and what needs --may-manage is marked.
func TestSkillPage(t *testing.T) {
	t.Parallel()
	head, body := skillPage(t)
	description := regexp.MustCompile(`(?m)^description: "([^"\\]+)"$`).FindStringSubmatch(head)
	rig.Check(t, strings.HasPrefix(head, "name: nbs-worker\n") && description != nil && len(description[1]) <= 1024, "the part for Claude: %s", head)
	for line := range strings.Lines(body) {
		rig.Check(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) <= 100 && !strings.ContainsAny(line, "\t{}"), "the line %q", line)
	}
	rig.Equal(t, len(regexp.MustCompile(`(?m)^## \d+\. `).FindAllString(body, -1)), 10, "tasks")
	commands := regexp.MustCompile(`(?m)^nbs-worker (.*)$`).FindAllStringSubmatch(body, -1)
	rig.Check(t, len(commands) > 15, "%d commands", len(commands))
	for _, match := range commands {
		line, comment, _ := strings.Cut(match[1], " # ")
		words := append(strings.Fields(line), "x")[:len(strings.Fields(line))] // a text in quotes is several words
		cmd, args, err := Tree().Find(words)
		rig.Check(t, err == nil && cmd.HasParent(), "%s: %v", line, err)
		if cmd.Name() == "help" || strings.HasSuffix(line, " --help") {
			continue
		}
		rig.Check(t, cmd.ParseFlags(args) == nil, "%s", line)
		right := powers[verbOf(cmd)].Right
		rig.Check(t, right != 0 && right != caller.Person, "an agent has no right to %s", line)
		rig.Check(t, right != caller.Manager || strings.HasPrefix(comment, "manage: "), "%s: not marked", line)
	}
	flags := map[string]bool{}
	for _, cmd := range verbs() {
		for _, match := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
			flags[match[1]] = true
		}
	}
	prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(body, "")
	for _, match := range regexp.MustCompile(`--([a-z][a-z-]+)`).FindAllStringSubmatch(prose, -1) {
		rig.Check(t, flags[match[1]], "no command has --%s", match[1])
	}
	var schema struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	rig.Must(t, json.Unmarshal(wire.Schema, &schema))
	of, _, _ := strings.Cut(strings.SplitN(prose, "`list` has", 2)[1], ". ")
	fields := regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(of, -1)
	rig.Check(t, len(fields) == 4, "%q", of)
	for _, match := range fields {
		rig.Check(t, schema.Defs["Agent"].Properties[match[1]] != nil, "list --json has no %s", match[1])
	}
	for _, row := range []string{"\n    0  done", "\n    3  timed out", "\n    8  held"} {
		rig.Check(t, strings.Contains(body, row), "the page does not explain %q", row)
	}
}

// A skill is installed, renewed and removed; what was changed is not touched; and doctor says that it is old.
func TestSkillIsInstalled(t *testing.T) {
	project, config := newProject(t), t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", config)
	_, body := skillPage(t)
	plugin := filepath.Join(t.TempDir(), "plug in")
	for option, page := range map[string]string{
		"":                   filepath.Join(project, ".claude/skills/nbs-worker/SKILL.md"),
		"--project":          filepath.Join(project, ".claude/skills/nbs-worker/SKILL.md"),
		"--user":             filepath.Join(config, "skills/nbs-worker/SKILL.md"),
		"--plugin=" + plugin: filepath.Join(plugin, "skills/nbs-worker/SKILL.md"),
	} {
		skill := func(verb string, more ...string) ran {
			args := []string{"--root", project, "skill", verb}
			if option != "" {
				args = append(args, option)
			}
			return run(append(args, more...)...)
		}
		rig.Equal(t, skill("install").want(t, 0).out, page+"\n", "install %s", option)
		text, err := os.ReadFile(page)
		rig.Check(t, err == nil && strings.HasSuffix(string(text), "\n---\n\n"+body), "install %s: %v, %s", option, err, text)
		rig.Must(t, os.WriteFile(page, append(text, "More.\n"...), 0o600))
		words := "hint: to replace it in spite of that: nbs-worker --root " + project + " skill install"
		skill("install").want(t, fail.Conflict, "another program wrote it", "skill show | diff '"+page+"' -", words, " --force\n")
		skill("remove").want(t, fail.Conflict, "nbs-worker did not remove it")
		skill("install", "--force").want(t, 0)
		rig.Check(t, strings.HasPrefix(skill("remove").want(t, 0).out, page+"\n"), "remove %s", option)
		_, err = os.Stat(filepath.Dir(filepath.Dir(page)))
		rig.Check(t, os.IsNotExist(err), "remove %s leaves folders: %v", option, err)
		skill("remove").want(t, fail.NotFound, "hint: to install it: nbs-worker --root "+project+" skill install")
	}
	run("skill", "install", "--user", "--project").want(t, fail.BadInput)
	run("skill", "renew").want(t, fail.BadInput, "hint: nbs-worker skill --help")
}

// An empty folder, as from a variable that is not set, is not the project; and the path that is printed is a whole one.
func TestSkillInAFolderWithoutAName(t *testing.T) {
	project := newProject(t)
	run("--root", project, "skill", "install").want(t, 0)
	for _, verb := range []string{"install", "remove"} {
		run("--root", project, "skill", verb, "--plugin", "").want(t, fail.BadInput, "skill "+verb+": --plugin needs a folder")
	}
	run("--root", project, "skill", "remove").want(t, 0)
	t.Chdir(project)
	t.Setenv("CLAUDE_CONFIG_DIR", "config")
	page := filepath.Join(project, "config/skills/nbs-worker/SKILL.md")
	rig.Equal(t, run("skill", "install", "--user").want(t, 0).out, page+"\n", "install")
	rig.Equal(t, run("skill", "remove", "--user").want(t, 0).out, page+"\n", "remove")
}

// doctor names a page of another version, and one that was changed.
func TestDoctorNamesAnOldSkill(t *testing.T) {
	project, config := newProject(t), t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", config)
	stamped = "1.2.3"
	t.Cleanup(func() { stamped = "" })
	for _, option := range []string{"--project", "--user"} {
		page := strings.TrimSpace(run("--root", project, "skill", "install", option).want(t, 0).out)
		rig.Check(t, !strings.Contains(run("--root", project, "doctor").out, "the skill in"), "doctor names a skill of its own version")
		text, err := os.ReadFile(page)
		rig.Check(t, err == nil && strings.Contains(string(text), "\n  version: \"1.2.3\"\n"), "%v, %s", err, text)
	}
	stamped = "1.10.0"
	r := run("--root", project, "doctor")
	for _, want := range []string{"is of nbs-worker 1.2.3, and this is 1.10.0", "skill install\n", "skill install --user\n"} {
		rig.Check(t, strings.Contains(r.out, want), "doctor does not say %q:\n%s", want, r.out)
	}
	for _, option := range []string{"--project", "--user"} {
		run("--root", project, "skill", "install", option).want(t, 0)
	}
	rig.Check(t, !strings.Contains(run("--root", project, "doctor").out, "the skill in"), "doctor names a skill that was renewed")
	page := filepath.Join(config, "skills/nbs-worker/SKILL.md")
	text, err := os.ReadFile(page)
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(page, append(text, "More.\n"...), 0o600))
	r = run("--root", project, "doctor")
	for _, want := range []string{"was changed since nbs-worker wrote it", "skill show | diff '" + page + "' -", "skill install --user --force\n"} {
		rig.Check(t, strings.Contains(r.out, want), "doctor does not say %q:\n%s", want, r.out)
	}
}

// Programs read what became of each file.
func TestSkillForPrograms(t *testing.T) {
	project := newProject(t)
	page := filepath.Join(project, ".claude/skills/nbs-worker/SKILL.md")
	skill := func(verb string) string {
		return strings.TrimSpace(run("--root", project, "skill", verb, "--json").want(t, 0).out)
	}
	stamped = "1.2.3"
	t.Cleanup(func() { stamped = "" })
	var shown wire.SkillPage
	rig.Must(t, json.Unmarshal([]byte(skill("show")), &shown))
	rig.Equal(t, shown, wire.SkillPage{Version: "1.2.3", Text: run("skill", "show").want(t, 0).out}, "show")
	rig.Equal(t, skill("install"), `{"path":"`+page+`","change":"written"}`, "install")
	rig.Equal(t, skill("install"), `{"path":"`+page+`","change":"same"}`, "install again")
	stamped = "1.10.0"
	rig.Equal(t, skill("install"), `{"path":"`+page+`","change":"renewed","old_version":"1.2.3"}`, "install by another version")
	rig.Equal(t, skill("remove"), `[{"path":"`+page+`","change":"removed"}]`, "remove")
	r := run("--root", project, "skill", "remove", "--json").want(t, fail.NotFound, `"kind":"not found"`)
	rig.Equal(t, r.out, "", "remove again")
}

// A host has a skill of its own, which is installed and removed from here.
func TestSkillAtAHost(t *testing.T) {
	far := newProject(t)
	withProjects(t, map[string]string{"build1": far})
	near := newProject(t)
	t.Chdir(near)
	page := filepath.Join(far, ".claude/skills/nbs-worker/SKILL.md")
	rig.Equal(t, run("--host", "build1", "skill", "install").want(t, 0).out, page+"\n", "install")
	_, err := os.Stat(page)
	rig.Must(t, err)
	r := run("skill", "install", "--json", "--host", "build1").want(t, 0)
	rig.Equal(t, r.out, `{"path":"`+page+`","change":"same"}`+"\n", "install again")
	rig.Must(t, os.WriteFile(page, []byte("Mine."), 0o600))
	run("--host", "build1", "skill", "install").want(t, fail.Conflict, "hint: to replace it in spite of that: nbs-worker --host build1 skill install --force\n")
	rig.Equal(t, run("--host", "build1", "skill", "remove", "--force").want(t, 0).out, page+"\n", "remove")
	_, err = os.Stat(filepath.Join(near, ".claude"))
	rig.Check(t, os.IsNotExist(err), "a skill was written here: %v", err)
}
