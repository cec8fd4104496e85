package claude

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// Files of Claude Code's, in whatever form they come.

// What Claude's configuration says stays, whatever it is, and the folder is trusted.
func FuzzTrust(f *testing.F) {
	for _, text := range []string{
		"", "null", "{}", "[]", `{"projects":null}`, `{"projects":[]}`, `{"projects":{"/srv/project":null}}`, `{"projects":{"/srv/project":7}}`,
		`{"a":"<\u2028\ud800&>","big":123456789012345678901234567890.10,"projects":{"/srv/project":{"hasTrustDialogAccepted":false,"x":[1]},"/o":{}}}`,
		`{"a":1,"a":2,"projects":{},"projects":{"/p":{}}}`, `{"a":1}{"b":2}`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(text), "/srv/project")
	}
	f.Add([]byte(`{"projects":{}}`), "/srv/\xff\"\\\n<p>")
	f.Fuzz(func(t *testing.T, before []byte, folder string) {
		folder = strings.ToValidUTF8(folder, "?") // as JSON has it
		after, err := withTrust(before, folder)
		if err != nil {
			object := map[string]map[string]map[string]any{}
			rig.Check(t, json.Unmarshal(before, &object) != nil, "%q is refused: %v", before, err)
			return
		}
		want := parsed(t, orEmpty(before))
		acceptTrust(want, folder)
		got := parsed(t, after)
		rig.Check(t, reflect.DeepEqual(got, want), "before %s\nafter %s", before, after)
		again, err := withTrust(after, folder)
		rig.Check(t, err == nil && bytes.Equal(again, after), "a second time: %v, %s\nbefore: %s", err, again, after)
	})
}

func orEmpty(data []byte) []byte {
	if text := strings.TrimSpace(string(data)); text == "" || text == "null" {
		return []byte("{}")
	}
	return data
}

// parsed reads an object with its numbers as they are written.
func parsed(t *testing.T, data []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		t.Fatalf("%v: %q", err, data)
	}
	return fields
}

func acceptTrust(file map[string]any, folder string) {
	at := file
	for _, name := range []string{"projects", folder} {
		below, _ := at[name].(map[string]any)
		if below == nil {
			below = map[string]any{}
		}
		at[name], at = below, below
	}
	at["hasTrustDialogAccepted"] = true
}

// What a command line was made from is what is read back from it; a prompt is never
// taken for a value.
func FuzzReadArgs(f *testing.F) {
	f.Add("opus[1m]", "--model haiku", "--model\x00haiku")
	f.Add("", "-d", "--session-id\x00--")
	f.Add("sonnet", "", "claude\x00-r"+string(sessionID)+"\x00--model=haiku")
	f.Fuzz(func(t *testing.T, model, prompt, other string) {
		r := agent.Spec{SessionID: sessionID, Model: agent.Model(model)}
		if _, err := agent.ParseModel(model); err == nil && !strings.Contains(prompt, "\x00") {
			for _, opening := range []Opening{OpenNew, OpenResume} {
				got, known := ReadArgs(append([]string{"claude"}, Args(&r, opening, prompt, Settings("/bin/nbs-worker", Closed{All: []string{"/state"}}))...))
				want := Recorded{SessionID: string(sessionID), Model: model, PermissionMode: string(agent.BypassPermissions)}
				rig.Check(t, got == want && known, "%+v, %t; want %+v", got, known, want)
			}
		}
		foreign := strings.Split(other, "\x00")
		got, known := ReadArgs(foreign)
		rig.Check(t, (known || got == (Recorded{})) && (!known || len(foreign) >= 2), "%q: %+v, %t", foreign, got, known)
		rig.Check(t, !RunsOn(foreign, sessionID) || strings.Contains(other, string(sessionID)), "%q runs on it", foreign)
	})
}
