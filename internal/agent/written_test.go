package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// at has nothing that a record would round off.
var at = time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)

// full is a record all of whose fields have a value, as the test makes sure.
var full = Record{
	Schema: 1, Handle: "alpha", SessionID: "abc12345-1234-1234-1234-123456789abc", Model: "opus", TmuxSession: "nbs-alpha-live",
	Started: at, InitialPrompt: "Read <PLAN> & \"begin\".\n\tÄ \u2028 \x00 \\", ProjectRoot: "/srv/project", PID: 12345,
	Created: at, Cwd: "/srv/project/a", PermissionMode: BypassPermissions, ClaudeArgs: []string{"--add-dir", "/srv/ü"},
	Env: map[string]string{"A": "b", "C": ""}, ConfigDir: "/srv/config", ClaudeVersion: "2.1.329", Desired: DesiredRunning,
	Restart: RestartPolicy{Policy: "no"}, EnvNames: []string{"ANTHROPIC_API_KEY"}, TranscriptSeen: at,
	Process: &Process{
		Invocation: "i", Identity: Identity{Identified: Identified{PID: 1, StartTicks: 1<<64 - 1, PidfdInode: 3}, BootID: "b", PIDNS: 4, Host: "h"},
		Launcher: Identified{PID: 5, StartTicks: 6, PidfdInode: 7},
		Tmux:     &TmuxPlace{Socket: "s", Path: "/tmp/s", ServerPID: 8, ServerStartTicks: 9},
		Adopted:  &Adoption{At: at, RegisteredMS: 10, Pane: "%1"}, Transcripts: "1:2",
	},
	PreviousSessions: []PreviousSession{{SessionID: "x", Until: at, Reason: "clear"}, {SessionID: "y", Until: at, Reason: "branch"}},
	Exits: []Exit{
		{At: at, Invocation: "i", Code: -1, Signal: "killed", HungUp: true, UptimeS: 11, Error: "e", LastScreen: "l\n", EndReason: "r", OutOfMemory: true, OOMKills: 12},
		{At: at, Invocation: "j"},
	},
}

var percent = 16

var fullReport = Report{
	Invocation: "i", SessionID: "s", Activity: &Activity{State: Busy, Detail: "d", Hook: "Stop", At: at.Add(123456789)},
	Failure: &Failure{Class: "c", At: at}, End: &End{Reason: "r", At: at},
	Gauge: &Gauge{Tokens: 1, Window: 2, UsedPercent: &percent, CostUSD: 0.8580000000000001, At: at},
}

// What was forgotten in the reading by hand would be read the slow way, and nobody would notice.
func TestAllThatIsWrittenIsReadByHand(t *testing.T) {
	t.Parallel()
	mustBeFull(t, "Record", reflect.ValueOf(full))
	mustBeFull(t, "Report", reflect.ValueOf(fullReport))
	for name, r := range map[string]Record{"full": full, "empty": {ClaudeArgs: []string{}, Env: map[string]string{}}} {
		var got Record
		if ok := readWrittenRecord(indented(t, r), &got); !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("the %s record, %t:\n%+v\nwant\n%+v", name, ok, got, r)
		}
	}
	for name, r := range map[string]Report{"full": fullReport, "empty": {}, "unused": {Gauge: &Gauge{}}} {
		if got, ok := readWrittenReport(indented(t, r)); !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("the %s report, %t:\n%+v\nwant\n%+v", name, ok, got, r)
		}
	}
}

func indented(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// mustBeFull makes sure that a new field is not forgotten here.
func mustBeFull(t *testing.T, name string, value reflect.Value) {
	t.Helper()
	switch value.Kind() { //nolint:exhaustive // of the others a zero is a zero
	case reflect.Pointer:
		if !value.IsNil() {
			mustBeFull(t, name, value.Elem())
			return
		}
	case reflect.Slice:
		if value.Len() > 0 {
			mustBeFull(t, name, value.Index(0))
			return
		}
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			break
		}
		for i := range value.NumField() {
			if field := value.Type().Field(i); field.Tag.Get("json") != "" || field.Anonymous {
				mustBeFull(t, name+"."+field.Name, value.Field(i))
			}
		}
		return
	}
	if value.IsZero() {
		t.Errorf("%s has no value here", name)
	}
}

// Text that is not as this program writes it is left to a decoder of any JSON.
func TestWrittenByAnotherHand(t *testing.T) {
	t.Parallel()
	for change, old := range map[string]string{
		`"pid": 012345,`:                          `"pid": 12345,`,
		`"pid": 12345.0,`:                         `"pid": 12345,`,
		`"pid": 1e3,`:                             `"pid": 12345,`,
		`"pid": -,`:                               `"pid": 12345,`,
		`"pid": null,`:                            `"pid": 12345,`,
		`"pid": "12345",`:                         `"pid": 12345,`,
		`"pid": 99999999999999999999,`:            `"pid": 12345,`,
		"\"pid\": 12345,\n  \"pid\": 1,":          `"pid": 12345,`,
		"\"pid\": 12345,\n  \"other\": 1,":        `"pid": 12345,`,
		`"pid": 12345`:                            `"pid": 12345,`,
		`"PID": 12345,`:                           `"pid": 12345,`,
		`"pid":12345,`:                            `"pid": 12345,`,
		"\t\"pid\": 12345,":                       `  "pid": 12345,`,
		`"started": "2026-02-20T1:44:07.5Z",`:     `"started": "2026-02-20T11:44:07Z",`,
		`"started": "2026-02-20T11:44:07,5Z",`:    `"started": "2026-02-20T11:44:07Z",`,
		`"started": "2026-02-30T11:44:07Z",`:      `"started": "2026-02-20T11:44:07Z",`,
		`"started": "2026-02-20T11:44:07+01:00",`: `"started": "2026-02-20T11:44:07Z",`,
		`"started": "",`:                          `"started": "2026-02-20T11:44:07Z",`,
		`"model": "opus`:                          `"model": "opus",`,
		`"model": "\q",`:                          `"model": "opus",`,
		"\"model\": \"o\npus\",":                  `"model": "opus",`,
		`"hung_up": 1,`:                           `"hung_up": true,`,
		"}\n{}\n":                                 "}\n",
		"}\n}\n":                                  "  }\n}\n",
	} {
		text := strings.Replace(string(indented(t, full)), old, change, 1)
		if strings.HasSuffix(change, "\n") {
			text = strings.TrimSuffix(string(indented(t, full)), old) + change
		}
		if readWrittenRecord([]byte(text), &Record{}) {
			t.Errorf("%q was read by hand", change)
		}
	}
	text := string(indented(t, full))
	for i := range len(text) - 1 {
		if readWrittenRecord([]byte(text[:i]), &Record{}) {
			t.Errorf("cut after %d bytes it was read by hand", i)
		}
	}
}

func FuzzWrittenRecord(f *testing.F) {
	text, err := json.MarshalIndent(full, "", "  ")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var byHand Record
		if !readWrittenRecord(data, &byHand) {
			return
		}
		want, err := seeAnyRecord(data)
		if err != nil || !reflect.DeepEqual(byHand, want) {
			t.Errorf("by hand\n%+v\nwant\n%+v, %v", byHand, want, err)
		}
	})
}

func FuzzWrittenReport(f *testing.F) {
	text, err := json.MarshalIndent(fullReport, "", "  ")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		byHand, ok := readWrittenReport(data)
		if !ok {
			return
		}
		want, err := parseAnyReport(data)
		if err != nil || !reflect.DeepEqual(byHand, want) {
			t.Errorf("by hand\n%+v\nwant\n%+v, %v", byHand, want, err)
		}
	})
}
