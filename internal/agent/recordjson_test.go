package agent_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

// legacy is a record as the original tools wrote it: eight fields, no schema.
const legacy = `{
  "handle": "theologian",
  "session_id": "abc12345-1234-1234-1234-123456789abc",
  "model": "opus",
  "tmux_session": "nbs-theologian-live",
  "started": "2026-02-20T11:44:07Z",
  "initial_prompt": "Your NBS handle is 'theologian'. Load /nbs-teams-chat...",
  "project_root": "/home/user/project",
  "pid": 12345
}`

func decode(t *testing.T, text string) agent.Record {
	t.Helper()
	var r agent.Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return r
}

func encode(t *testing.T, r agent.Record) string {
	t.Helper()
	text, err := json.Marshal(r)
	rig.Must(t, err)
	return string(text)
}

func TestRecordOfTheOriginalToolsIsRead(t *testing.T) {
	t.Parallel()
	r := decode(t, legacy)
	want := agent.Record{
		Spec: agent.Spec{
			Handle: "theologian", SessionID: "abc12345-1234-1234-1234-123456789abc", Model: "opus",
			InitialPrompt: "Your NBS handle is 'theologian'. Load /nbs-teams-chat...", ProjectRoot: "/home/user/project",
		},
		TmuxSession: "nbs-theologian-live", Started: time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC), PID: 12345,
	}
	diff := cmp.Diff(want, r, cmp.FilterPath(isUnexported, cmp.Ignore()))
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
	err := r.Validate()
	rig.Check(t, err == nil, "it is not valid: %v", err)
}

func isUnexported(p cmp.Path) bool {
	field, ok := p.Last().(cmp.StructField)
	return ok && (field.Name() == "source" || field.Name() == "seen")
}

// A record keeps the eight names of the original tools.
func TestRecordKeepsTheOriginalNames(t *testing.T) {
	t.Parallel()
	after := fieldsOf(t, encode(t, decode(t, legacy)))
	for name, value := range fieldsOf(t, legacy) {
		if after[name] != value {
			t.Errorf("%s is %s after a rewrite; was %s", name, after[name], value)
		}
	}
}

// The process's own pid was verified, and what a hand has written beside it was not.
func TestPIDIsThatOfTheProcess(t *testing.T) {
	t.Parallel()
	var r agent.Record
	rig.Must(t, agent.ParseRecord([]byte(`{"handle":"alpha","pid":1,"process":{"pid":4711}}`), &r))
	rig.Equal(t, r.PID, 4711, "pid")
	rig.Must(t, agent.ParseRecord([]byte(`{"handle":"alpha","pid":12}`), &r))
	rig.Equal(t, r.PID, 12, "pid of the original tools")
}

func TestUnknownFieldsSurviveARewrite(t *testing.T) {
	t.Parallel()
	for what, field := range map[string]string{
		"string":     `"role":"elder"`,
		"big number": `"ceiling":12345678901234567890123`,
		"object":     `"plugin":{"b":[1,2.50,{"c":null}],"a":"\u2713"}`,
		"null":       `"nothing":null`,
		"empty name": `"":1`,
		"odd name":   `"a\"b\n":true`,
		"near name":  `"session_ids":["x"]`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			once := encode(t, decode(t, strings.TrimSuffix(legacy, "\n}")+",\n"+field+"}"))
			for name, value := range fieldsOf(t, "{"+field+"}") {
				got := fieldsOf(t, once)[name]
				rig.Check(t, got == value, "%q is %s after a rewrite; was %s", name, got, value)
			}
			twice := encode(t, decode(t, once))
			rig.Check(t, once == twice, "a second rewrite changes the record:\n%s\n%s", once, twice)
		})
	}
}

// fieldsOf returns the values of a JSON object as they are spelled.
func fieldsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	fields := make(map[string]string, len(raw))
	for name, value := range raw {
		fields[name] = string(value)
	}
	return fields
}

// Some readers ignore the case of names, and would take the id from another field than we.
func TestNameInOtherCaseIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SESSION_ID", "Session_Id", "\u017fession_id"} {
		text := strings.TrimSuffix(legacy, "\n}") + `,"` + name + `":"11111111-2222-4333-8444-555555555555"}`
		var record agent.Record
		err := agent.ParseRecord([]byte(text), &record)
		rig.Check(t, err != nil && strings.Contains(err.Error(), "only in case"), "%s: %v", name, err)
		rig.Check(t, reflect.DeepEqual(record, agent.Record{}), "%s: something is left of it: %+v", name, record)
	}
}

func TestFullRecordRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	r := agent.Record{
		Spec: agent.Spec{
			Schema: 1, Handle: "a", SessionID: lowerID, Model: "sonnet[1m]", InitialPrompt: "line\nline \u2713 <&>",
			ProjectRoot: "/p", Cwd: "/p/s", PermissionMode: "plan", ClaudeArgs: []string{"--add-dir", "/x y"},
			Env: map[string]string{"A": "1"}, ConfigDir: "/c", Restart: agent.RestartPolicy{Policy: "no"},
			PreviousSessions: []agent.PreviousSession{{SessionID: lowerID, Until: at, Reason: "clear"}},
		},
		TmuxSession: "nbs-a-live", Started: at, PID: 7, Created: at, ClaudeVersion: "2.1.329", Desired: agent.DesiredRunning,
		TranscriptSeen: at,
		Process: &agent.Process{
			Invocation: "i", Launcher: agent.Identified{PID: 6, StartTicks: 5},
			Identity: agent.Identity{Identified: agent.Identified{PID: 7, StartTicks: 1 << 60}, BootID: "b", PIDNS: 4026531836, Host: "h"},
			Tmux:     &agent.TmuxPlace{Socket: "/tmp/s", ServerPID: 3, ServerStartTicks: 2},
		},
		Exits: []agent.Exit{{At: at, Invocation: "i", Code: -1, Signal: "killed", UptimeS: 9, LastScreen: "bye"}},
	}
	diff := cmp.Diff(r, decode(t, encode(t, r)), cmp.FilterPath(isUnexported, cmp.Ignore()))
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestRecordRefusesWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", `"x"`, "1", "{", legacy[:200], legacy + "}", `{"pid":"7"}`, `{"started":"yesterday"}`, `{"schema":1.5}`} {
		var r agent.Record
		err := json.Unmarshal([]byte(text), &r)
		rig.Check(t, err != nil, "%s was read as a record", text)
	}
}

func FuzzRecordJSON(f *testing.F) {
	f.Add([]byte(legacy))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"schema":2,"future":{"a":[1]}}`))
	f.Add([]byte(`{"HANDLE":"x","handle":"y","\u017fchema":1,"claude_args":["\u0000"],"env":{"A":"b"}}`))
	f.Add([]byte(`{"process":{"pid":1,"launcher":{"pid":2},"tmux":{}},"exits":[{}],"":0,"started":"9999-12-31T23:59:59Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r agent.Record
		if json.Unmarshal(data, &r) != nil {
			return
		}
		invalid := r.Validate()
		once, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		var again agent.Record
		if err := json.Unmarshal(once, &again); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		revalid := again.Validate()
		rig.Check(t, (invalid == nil) == (revalid == nil), "valid before: %v, after a rewrite: %v", invalid, revalid)
		twice := encode(t, again)
		rig.Check(t, twice == string(once), "a second rewrite changes the record:\n%s\n%s", once, twice)
	})
}

// What the next version adds to an object inside is not lost by this one, for as long as the
// object is about the same.
func TestUnknownFieldsInsideSurvive(t *testing.T) {
	t.Parallel()
	const restart, process = `"restart":{"policy":"on-failure","max":3}`, `"cgroup":"/agents"`
	r := decode(t, `{"schema":1,`+restart+`,"process":{"invocation":"a","pid":7,`+process+`}}`)
	text := encode(t, r)
	rig.Check(t, strings.Contains(text, restart) && strings.Contains(text, process), "after a rewrite: %s", text)
	r.Process = &agent.Process{Invocation: "b"}
	text = encode(t, r)
	rig.Check(t, strings.Contains(text, restart) && !strings.Contains(text, process), "after another start: %s", text)
	r.Process = nil
	text = encode(t, r)
	rig.Check(t, !strings.Contains(text, "process"), "without a start: %s", text)
}

// What is wrong with a record is said in words that its reader knows.
func TestDamageIsToldInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"handle":"al`:                       "it is cut off after 13 bytes",
		`{"handle":"alpha"} x`:                "it is not valid JSON at byte 19",
		`nonsense`:                            "it is not valid JSON at byte 1",
		`{"pid":"12"}`:                        `the field "pid" has a value of the wrong type`,
		`{"process":{"launcher":{"pid":[]}}}`: `the field "process/launcher/pid" has a value of the wrong type`,
		`{"started":"yesterday"}`:             `the field "started" has a value of the wrong type`,
		`[]`:                                  "it is not a record",
	} {
		var r agent.Record
		err := agent.ParseRecord([]byte(text), &r)
		rig.Check(t, err != nil && err.Error() == want, "%s: %v; want %s", text, err, want)
	}
}
