package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Report is what an agent's claude said last, as the file has it.
type Report struct {
	Invocation string
	SessionID  string `json:"session_id"`
	Activity   struct{ State, Detail, Hook string }
	Failure    *struct{ Class string }
	End        *struct{ Reason string }
	Gauge      *struct {
		Tokens, Window int
		UsedPercent    *int    `json:"used_percent"`
		CostUSD        float64 `json:"cost_usd"`
	}
}

func (m *Team) Report(handle string) (r Report) {
	m.Helper()
	text, err := os.ReadFile(m.InNbs("status", handle+".json"))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil && !os.IsNotExist(err) {
		m.Fatal(err)
	}
	return r
}

// WaitReport waits until the agent's claude has said something.
func (m *Team) WaitReport(handle, what string, is func(r Report) bool) (r Report) {
	m.Helper()
	defer func() {
		if m.Failed() {
			m.Log(m.Screen(handle))
		}
	}()
	m.WaitFor(handle+" reports "+what, func() (bool, string) {
		r = m.Report(handle)
		text, _ := json.Marshal(r)
		return is(r), string(text)
	})
	return r
}

func (m *Team) ProjectSettings(name, text string) {
	m.Helper()
	m.Write(filepath.Join(m.World.Project, ".claude", name), text)
}

// Said calls nbs-worker as an agent's claude does, and must succeed.
func (m *Team) Said(handle, verb, payload string) string {
	m.Helper()
	invocation, _ := Process(m.Record(handle))["invocation"].(string)
	cmd := m.Command([]string{verb}, "NBS_HANDLE="+handle, "NBS_ROOT="+m.World.Project, "NBS_INVOCATION_ID="+invocation)
	cmd.Stdin = strings.NewReader(payload)
	r := m.Finish(cmd)
	m.Check(r.Code == 0 && r.Stderr == "", "%s: %s", verb, r)
	return r.Stdout
}

// Costs has an agent's claude show a total on its status line.
func (m *Team) Costs(handle string, usd float64) {
	m.Helper()
	m.Said(handle, "statusline", fmt.Sprintf(`{"session_id":%q,"cost":{"total_cost_usd":%v},"context_window":{"context_window_size":200000}}`, m.Session(handle).SessionID, usd))
}

// WaitMoved waits until the record is in another conversation than before.
func (m *Team) WaitMoved(before Session, reason string) (after Session) {
	m.Helper()
	m.WaitFor("the record follows", func() (bool, string) {
		var r Session // of the record's own: nobody looks, the hook alone moves it
		if err := json.Unmarshal([]byte(m.RecordText("alpha")), &r); err != nil {
			return false, err.Error()
		}
		for _, p := range r.PreviousSessions {
			if p.SessionID == before.SessionID && p.Reason == reason && r.SessionID != before.SessionID {
				return true, ""
			}
		}
		return false, fmt.Sprintf("%+v", r)
	})
	return m.Session("alpha")
}

// RegistryEntry is the file of a claude in Claude's own registry.
func (m *Team) RegistryEntry(pid int) string {
	return filepath.Join(m.World.ConfigDir, "sessions", fmt.Sprintf("%d.json", pid))
}

// LeaseHolder is who signed the lease of a conversation: "" for nobody.
func (m *Team) LeaseHolder(id string) string {
	text, _ := os.ReadFile(m.InNbs("locks", id+".lease"))
	return strings.TrimSpace(string(text))
}

// UserSettings replaces the user's settings as a whole: claude reads them at once, and would
// find them empty.
func (m *Team) UserSettings(text string) {
	m.Helper()
	m.Replace(filepath.Join(m.World.ConfigDir, "settings.json"), []byte(text))
}
