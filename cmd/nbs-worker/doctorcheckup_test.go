package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkup is what doctor --json tells.
type checkup struct {
	Level  string
	Checks []struct {
		ID      string
		Level   string
		What    string
		Why     string
		Fix     []string
		Fixable bool
	}
	Fixed    []string
	NotFixed []string `json:"not_fixed"`
}

// anyCode is that of a doctor who may find whatever else.
const anyCode = -1

// doctor runs the doctor, who must end with the code.
func (m *team) doctor(code int, args ...string) checkup {
	m.Helper()
	return m.doctorWith(nil, code, args...)
}

func (m *team) doctorWith(env []string, code int, args ...string) checkup {
	m.Helper()
	return m.checkup(m.nbsWith(env, append([]string{"doctor", "--json"}, args...)...), code)
}

// checkup reads what a doctor said.
func (m *team) checkup(r result, code int) (c checkup) {
	m.Helper()
	if err := json.Unmarshal([]byte(r.stdout), &c); err != nil || code != anyCode && (r.code != code || r.stderr != "") {
		m.Fatalf("doctor: want code %d, got %d; %v; stderr %s\n%s", code, r.code, err, r.stderr, strings.Join(c.unwell(), "\n"))
	}
	return c
}

// finds checks that one check has found something of the level, with the words in what it says, and what mends it.
func (c checkup) finds(m *team, id, level, words string) {
	m.Helper()
	for _, found := range c.Checks {
		if found.ID == id && found.Level == level && strings.Contains(found.What+"\n"+found.Why+"\n"+strings.Join(found.Fix, "\n"), words) {
			m.check(level == "ok" || level == "note" || found.Why != "" && len(found.Fix) != 0, "it does not say why, or what mends it: %+v", found)
			return
		}
	}
	m.Errorf("no %s of %s with %q in %+v", level, id, words, c.of(id))
}

// isWell checks that these checks found nothing wrong.
func (c checkup) isWell(m *team, ids ...string) {
	m.Helper()
	for _, id := range ids {
		found := c.of(id)
		m.check(len(found) == 1 && strings.HasPrefix(found[0], "ok: "), "%s: %q", id, found)
	}
}

// unwell is all that is not as it should be.
func (c checkup) unwell() []string {
	var found []string
	for _, one := range c.Checks {
		if one.Level != "ok" {
			found = append(found, one.ID+", "+one.Level+": "+one.What)
		}
	}
	return found
}

// of is what a check has found.
func (c checkup) of(id string) []string {
	var found []string
	for _, one := range c.Checks {
		if one.ID == id {
			found = append(found, one.Level+": "+one.What)
		}
	}
	return found
}

// everything is all that is below a folder: names, modes and contents; not what a live agent is about to rename.
func (m *team) everything(root string) map[string]string {
	m.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") && filepath.Base(filepath.Dir(path)) == "status" {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all[strings.TrimPrefix(path, root)] = fmt.Sprintf("%s %s %s", info.Mode(), info.ModTime(), text)
		return nil
	})
	m.must(err)
	return all
}

// mustBeAsBefore checks that nothing below a folder has changed or is new, but for the exceptions, of which nothing may
// be gone.
func (m *team) mustBeAsBefore(root string, before map[string]string, but ...string) {
	m.Helper()
	now := m.everything(root)
	excepted := func(path string) bool {
		return slices.ContainsFunc(but, func(part string) bool { return path == part || part != "" && strings.HasPrefix(path, part+"/") })
	}
	for path, was := range before {
		is, there := now[path]
		m.check(there && (is == was || excepted(path)), "%s has changed: %.300q, before %.300q", path, is, was)
	}
	for path := range now {
		_, there := before[path]
		m.check(there || excepted(path), "%s is new", path)
	}
}

// agentsOwn is what a live agent writes below .nbs, whatever the doctor does; in /locks the doctor has a scratch file.
var agentsOwn = []string{"", "/locks", "/status"}
