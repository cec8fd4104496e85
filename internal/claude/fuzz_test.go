package claude

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

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
