package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/smallfile"
)

// The user's own settings files of Claude, for all projects or for one.

const settingsLimit = 1 << 20 // bytes

// SettingsFile returns the path of the user's settings, which apply to all projects.
func (c Config) SettingsFile() string { return filepath.Join(c.dir, "settings.json") }

// UserStatusLine returns the shell command of the status line that the user has configured for a project, and that
// ours replaces, or "". As in claude, the settings of the project take precedence over the user's own. It does not
// read a source that the extra arguments leave out, or a file that another user can write.
func (c Config) UserStatusLine(project string, extraArgs []string) string {
	for _, file := range c.settingsFiles(project, extraArgs) {
		if !isOwn(file) {
			continue
		}
		if command, configured := statusLineOf(file); configured {
			return command
		}
	}
	return ""
}

// settingsFiles returns the settings files that claude reads in a project, in the order of their precedence. Without
// a project, it returns those that apply to all projects.
func (c Config) settingsFiles(project string, extraArgs []string) (files []string) {
	wanted := settingSources(extraArgs)
	for _, from := range []struct {
		source string
		file   string
	}{
		{"local", filepath.Join(project, ".claude", "settings.local.json")},
		{"project", filepath.Join(project, ".claude", "settings.json")},
		{"user", c.SettingsFile()},
	} {
		if slices.Contains(wanted, from.source) && (project != "" || from.source == "user") {
			files = append(files, from.file)
		}
	}
	return files
}

// Chosen says which of the things that claude does by itself the user has settled in their own settings file. Ours
// would take precedence.
type Chosen struct {
	IdleCompaction bool // it is compacted shortly before its prompt cache expires
	AutoContinue   bool // after a usage limit its task goes on
}

// byItself are the settings of what claude does by itself, which newer versions do by default; nil: as the user chose.
type byItself struct {
	IdleCompaction *bool `json:"idleCompaction,omitempty"`
	AutoContinue   *bool `json:"autoContinueAtUsageLimit,omitempty"`
}

// rest turns off what the user has not settled.
func (c Chosen) rest() byItself {
	var off byItself
	if !c.IdleCompaction {
		off.IdleCompaction = new(false)
	}
	if !c.AutoContinue {
		off.AutoContinue = new(false)
	}
	return off
}

// ChosenByUser reads from the user's settings, which apply to all projects, what of [Chosen] they settle. Extra
// arguments may leave that file out.
func (c Config) ChosenByUser(extraArgs []string) Chosen {
	if !slices.Contains(settingSources(extraArgs), "user") {
		return Chosen{}
	}
	text, err := smallfile.Read(c.SettingsFile(), settingsLimit)
	if err != nil {
		return Chosen{}
	}
	var settings byItself
	if json.Unmarshal(text, &settings, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return Chosen{}
	}
	return Chosen{IdleCompaction: settings.IdleCompaction != nil, AutoContinue: settings.AutoContinue != nil}
}

// settingSources returns the kinds of settings files that claude reads.
func settingSources(extraArgs []string) []string {
	const option = "--setting-sources"
	sources := []string{"user", "project", "local"}
	for i, arg := range extraArgs {
		value, given := strings.CutPrefix(arg, option+"=")
		if arg == option && i+1 < len(extraArgs) {
			value, given = extraArgs[i+1], true
		}
		if given { // the last one counts
			sources = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return sources
}

// isOwn reports whether only this user or root can change a file, which may be a link: the command in it runs as the
// user.
func isOwn(file string) bool {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc([]string{filepath.Dir(file), filepath.Dir(target), target}, othersWrite)
}

// othersWrite reports whether another user can change a file, or the entries of a folder. A group whose id is the
// user's own counts as the user: where users have such groups, their files are often group-writable.
func othersWrite(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true
	}
	stat, self := info.Sys().(*syscall.Stat_t), os.Geteuid()
	writable := os.FileMode(unix.S_IWOTH)
	if int(stat.Gid) != self {
		writable |= unix.S_IWGRP
	}
	sticky := info.IsDir() && info.Mode()&os.ModeSticky != 0 // no other user can replace a file in it
	return int(stat.Uid) != self && stat.Uid != 0 || info.Mode()&writable != 0 && !sticky
}

// statusLineOf reads a settings file. A file that cannot be read configures nothing.
func statusLineOf(file string) (command string, configured bool) {
	text, err := smallfile.Read(file, settingsLimit)
	if err != nil {
		return "", false
	}
	var settings struct {
		StatusLine *struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		} `json:"statusLine"`
	}
	err = json.Unmarshal(text, &settings, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || settings.StatusLine == nil || settings.StatusLine.Type != "command" {
		return "", false
	}
	return settings.StatusLine.Command, true
}
