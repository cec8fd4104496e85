package cli

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/sim/rig"
)

// The README is kept true. That its commands run is a test of internal/e2e/recover.

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rig.Root(t), "README.md"))
	rig.Must(t, err)
	return string(text)
}

func TestReadmeKnowsEveryVerb(t *testing.T) {
	t.Parallel()
	text := readme(t)
	help, topics, _ := strings.Cut(run("help").out, "\nHelp topics, as nbs-worker help TOPIC:\n")
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z-]+) `).FindAllStringSubmatch(topics, -1) {
		rig.Check(t, strings.Contains(text, "`"+match[1]+"`"), "the README does not name the topic %s", match[1])
	}
	verbs := regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`).FindAllStringSubmatch(help, -1)
	rig.Check(t, len(verbs) > 20, "%d verbs in the help", len(verbs))
	for _, match := range verbs {
		rig.Check(t, match[1] == "help" || strings.Contains(text, "`"+match[1]), "the README does not name %s", match[1])
	}
}

func TestReadmeLinksLead(t *testing.T) {
	t.Parallel()
	text := readme(t)
	for _, match := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		if heading, is := strings.CutPrefix(match[1], "#"); is {
			rig.Check(t, regexp.MustCompile(`(?mi)^#+ `+strings.ReplaceAll(heading, "-", " ")+`$`).MatchString(text), "no heading is %s", heading)
			continue
		}
		_, err := os.Stat(filepath.Join(rig.Root(t), match[1]))
		rig.Check(t, err == nil, "a link leads nowhere: %v", err)
	}
	makefile, err := os.ReadFile(filepath.Join(rig.Root(t), "Makefile"))
	rig.Must(t, err)
	for _, match := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
		rig.Check(t, regexp.MustCompile(`(?m)^`+match[1]+`:`).Match(makefile), "make %s is no target", match[1])
	}
}

func TestBotTopicShowsASchedule(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(longOf("bot"), "  zone:")
	text, _, _ = strings.Cut("  zone:"+text, "\n\n")
	file, err := schedule.Parse("bot", []byte(text))
	rig.Check(t, err == nil && len(file.Entries) == 1 && file.Entries[0].DeliverTo == "telegram:-5", "%+v, %v", file, err)
}

// Beside the sizes of others, the README gives the program's own: the lines of Go without tests and what is only for them.
func TestReadmeSaysItsSize(t *testing.T) {
	t.Parallel()
	said := regexp.MustCompile(`(?m)^\| nbs-worker \|.* over (\d+),000 lines, no daemon \|$`).FindStringSubmatch(readme(t))
	rig.Check(t, said != nil, "the README does not say how large nbs-worker is")
	thousands, err := strconv.Atoi(said[1])
	rig.Must(t, err)
	lines := 0
	rig.Must(t, filepath.WalkDir(filepath.Join(rig.Root(t), "internal"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "sim" || d.Name() == "e2e"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		lines += strings.Count(string(text), "\n")
		return err
	}))
	rig.Check(t, lines >= thousands*1000 && lines < thousands*1500, "the README says over %d,000 lines, and there are %d", thousands, lines)
}

// An error about a file names the file and says nothing of what is in it: whoever may not read the file may see the error.
func TestErrorsQuoteNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"control": "SWORDFISH \x1b[0m SWORDFISH", "nul": "SWORDFISH\x00", "bytes": "SWORDFISH \xff", "command": "/exit SWORDFISH"} {
		file := filepath.Join(dir, name)
		rig.Must(t, os.WriteFile(file, []byte(text), 0o600))
		for _, args := range [][]string{
			{"spawn", "alpha", "--prompt-file", file, "--dry-run"},
			{"ask", "review", "hello", "--system-prompt-file", file, "--model", "no such"},
		} {
			r := run(append([]string{"--root", dir}, args...)...)
			rig.Check(t, r.code != 0 && !strings.Contains(r.err+r.out, "SWORDFISH"), "%s of %s: %d, %s", args[0], name, r.code, r.err)
		}
	}
}

// make uninstall removes each file that make install installs, and make install stamps the version.
func TestUninstallRemovesWhatIsInstalled(t *testing.T) {
	t.Parallel()
	steps := func(target string) string {
		make := exec.Command("make", "-n", target, "PREFIX=/p", "VERSION=1.2.3")
		make.Dir = rig.Root(t)
		out, err := make.CombinedOutput()
		rig.Check(t, err == nil, "make -n %s: %v, %s", target, err, out)
		return strings.ReplaceAll(string(out), `"`, "")
	}
	install, uninstall := steps("install"), steps("uninstall")
	for _, file := range []string{
		"/p/share/bash-completion/completions/nbs-worker", "/p/share/zsh/site-functions/_nbs-worker", "/p/share/fish/vendor_completions.d/nbs-worker.fish",
	} {
		rig.Check(t, strings.Contains(install, ">"+file+"\n"), "%s is not installed by\n%s", file, install)
		rig.Check(t, strings.Contains(uninstall, " "+file), "%s is not removed by\n%s", file, uninstall)
	}
	for _, file := range []string{"/p/bin/nbs-worker\n", "/p/share/man/man1/nbs-worker.1 ", "/p/share/man/man1/nbs-worker-*.1\n"} {
		rig.Check(t, strings.Contains(uninstall, file), "%s is not removed by\n%s", file, uninstall)
	}
	rig.Check(t, strings.Contains(install, "cli.stamped=1.2.3 "), "no version is stamped by\n%s", install)
}

// make uninstall says what stays, and removes the folders that are empty now. Those of the system stay.
func TestUninstallSaysWhatStays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prefix string
		left   []string
	}{
		{"/home/me/.local", []string{"share/zsh/mine"}},
		{"/usr/local", []string{"bin", "share/bash-completion/completions", "share/fish/vendor_completions.d", "share/man/man1", "share/zsh/mine", "share/zsh/site-functions"}},
	} {
		dir := t.TempDir()
		prefix := filepath.Join(dir, c.prefix)
		for _, file := range []string{
			"bin/nbs-worker", "share/man/man1/nbs-worker.1", "share/man/man1/nbs-worker-spawn.1", "share/bash-completion/completions/nbs-worker",
			"share/zsh/site-functions/_nbs-worker", "share/fish/vendor_completions.d/nbs-worker.fish", "share/zsh/mine",
		} {
			rig.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(prefix, file)), 0o700))
			rig.Must(t, os.WriteFile(filepath.Join(prefix, file), nil, 0o600))
		}
		for range 2 { // there is nothing to remove the second time
			uninstall := exec.Command("make", "-s", "uninstall", "DESTDIR="+dir, "PREFIX="+c.prefix)
			uninstall.Dir = rig.Root(t)
			out, err := uninstall.CombinedOutput()
			said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			rig.Check(t, err == nil && len(said) == 2 && strings.HasPrefix(said[0], "nbs-worker is removed from "+prefix+". These stay: .nbs in each project,"),
				"make uninstall: %v, %s", err, out)
			rig.Same(t, "what is left in "+c.prefix, c.left, leaves(t, prefix))
		}
	}
}

// A share folder that is a link to another place does not lead make uninstall to what is beside that place. A prefix may be
// relative.
func TestUninstallStaysBelowItsPrefix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	prefix := filepath.Join(dir, "prefix")
	for _, name := range []string{"other/bin", "other/share/man/man1", "prefix/bin"} {
		rig.Must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	rig.Must(t, os.Symlink("../other/share", filepath.Join(prefix, "share")))
	relative, err := filepath.Rel(rig.Root(t), prefix)
	rig.Must(t, err)
	for _, given := range []string{prefix, relative} {
		uninstall := exec.Command("make", "-s", "uninstall", "PREFIX="+given)
		uninstall.Dir = rig.Root(t)
		out, err := uninstall.CombinedOutput()
		rig.Check(t, err == nil, "make uninstall: %v, %s", err, out)
		rig.Same(t, "what is left", []string{"other/bin", "other/share", "prefix/share"}, leaves(t, dir))
		rig.Must(t, os.MkdirAll(filepath.Join(prefix, "bin"), 0o700))
	}
}

// leaves names the files and the empty folders below a folder.
func leaves(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	rig.Must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if below, _ := os.ReadDir(path); err == nil && len(below) == 0 { // of a file nothing
			name, _ := filepath.Rel(dir, path) // path is below dir
			names = append(names, name)
		}
		return err
	}))
	return names
}
