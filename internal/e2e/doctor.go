package e2e

import (
	"encoding/json"
	"strings"
)

// Checkup is what doctor --json tells.
type Checkup struct {
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

// AnyCode is that of a doctor who may find whatever else.
const AnyCode = -1

// Doctor runs the doctor, who must end with the code.
func (m *Team) Doctor(code int, args ...string) Checkup {
	m.Helper()
	return m.DoctorWith(nil, code, args...)
}

func (m *Team) DoctorWith(env []string, code int, args ...string) Checkup {
	m.Helper()
	return m.Checkup(m.NBSWith(env, append([]string{"doctor", "--json"}, args...)...), code)
}

// Checkup reads what a doctor said.
func (m *Team) Checkup(r Result, code int) (c Checkup) {
	m.Helper()
	if err := json.Unmarshal([]byte(r.Stdout), &c); err != nil || code != AnyCode && (r.Code != code || r.Stderr != "") {
		m.Fatalf("doctor: want code %d, got %d; %v; stderr %s\n%s", code, r.Code, err, r.Stderr, strings.Join(c.Unwell(), "\n"))
	}
	return c
}

// Finds checks that one check has found something of the level, with the words in what it says, and what mends it.
func (c Checkup) Finds(m *Team, id, level, words string) {
	m.Helper()
	for _, found := range c.Checks {
		if found.ID == id && found.Level == level && strings.Contains(found.What+"\n"+found.Why+"\n"+strings.Join(found.Fix, "\n"), words) {
			m.Check(level == "ok" || level == "note" || found.Why != "" && len(found.Fix) != 0, "it does not say why, or what mends it: %+v", found)
			return
		}
	}
	m.Errorf("no %s of %s with %q in %+v", level, id, words, c.Of(id))
}

// IsWell checks that these checks found nothing wrong.
func (c Checkup) IsWell(m *Team, ids ...string) {
	m.Helper()
	for _, id := range ids {
		found := c.Of(id)
		m.Check(len(found) == 1 && strings.HasPrefix(found[0], "ok: "), "%s: %q", id, found)
	}
}

// Unwell is all that is not as it should be.
func (c Checkup) Unwell() []string {
	var found []string
	for _, one := range c.Checks {
		if one.Level != "ok" {
			found = append(found, one.ID+", "+one.Level+": "+one.What)
		}
	}
	return found
}

// Of is what a check has found.
func (c Checkup) Of(id string) []string {
	var found []string
	for _, one := range c.Checks {
		if one.ID == id {
			found = append(found, one.Level+": "+one.What)
		}
	}
	return found
}

// Assessment is what triage --json tells of an agent.
type Assessment struct {
	Handle, Verdict string
	Level           int
	Evidence        []string
	Command         string
}

// Triage judges agents; the code is that of the command.
func (m *Team) Triage(args ...string) (byHandle map[string]Assessment, code int) {
	m.Helper()
	r := m.NBS(append([]string{"triage", "--json"}, args...)...)
	var all []Assessment
	if err := json.Unmarshal([]byte(r.Stdout), &all); err != nil {
		m.Fatalf("%v in %s", err, r)
	}
	byHandle = map[string]Assessment{}
	for _, a := range all {
		byHandle[a.Handle] = a
	}
	return byHandle, r.Code
}
