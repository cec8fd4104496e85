package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// A clock that was put back does not make what is said now older than what was said before.
func TestHooksAfterTheClockWasPutBack(t *testing.T) {
	m := standIn(t)
	s := m.remembers("alpha")
	m.waitReport("alpha", "the end of the turn", func(r report) bool { return r.Activity.Hook == "Stop" })
	m.said("alpha", "statusline", `{"context_window":{"context_window_size":200000}}`)
	m.laterReport("alpha", time.Hour)
	other := "5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
	m.registerAs(s, other)
	m.said("alpha", "hook", `{"session_id":"`+other+`","hook_event_name":"SessionStart","source":"clear"}`)
	m.said("alpha", "statusline", `{"context_window":{"context_window_size":1000000}}`)
	if r := m.report("alpha"); r.SessionID != other || r.Activity.Hook != "SessionStart" || r.Gauge.Window != 1000000 {
		t.Errorf("what is said after the clock was put back is not believed: %+v", r)
	}
	m.waitMoved(s, "clear")
}

// laterReport makes a report look as if it had been written by a clock that was ahead.
func (m *team) laterReport(handle string, ahead time.Duration) {
	m.Helper()
	path := m.inNbs("status", handle+".json")
	text, err := os.ReadFile(path)
	var fields map[string]any
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	for _, name := range []string{"activity", "gauge"} {
		field, _ := fields[name].(map[string]any)
		at, parseErr := time.Parse(time.RFC3339Nano, field["at"].(string))
		if parseErr != nil {
			m.Fatal(parseErr)
		}
		field["at"] = at.Add(ahead)
	}
	if err == nil {
		text, err = json.MarshalIndent(fields, "", "  ")
	}
	if err == nil {
		err = os.WriteFile(path, []byte(strings.TrimSpace(string(text))+"\n"), 0o600)
	}
	if err != nil {
		m.Fatal(err)
	}
}
