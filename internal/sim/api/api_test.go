package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/sim/rig"
)

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s, err := Start(opts)
	rig.Must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return s
}

// post sends messages given as "role: text" lines and returns status and body.
func post(t *testing.T, s *Server, extra object, lines ...string) (int, []byte) {
	t.Helper()
	var messages []object
	for _, line := range lines {
		role, text, _ := strings.Cut(line, ": ")
		messages = append(messages, object{"role": role, "content": text})
	}
	return postMessages(t, s, extra, messages)
}

func postMessages(t *testing.T, s *Server, extra object, messages []object) (int, []byte) {
	t.Helper()
	body := object{"model": "sonnet-test", "messages": messages}
	for k, v := range extra {
		body[k] = v
	}
	data, err := json.Marshal(body)
	rig.Must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/messages?beta=true", bytes.NewReader(data))
	rig.Must(t, err)
	req.Header.Set("X-Claude-Code-Session-Id", "session-1")
	resp, err := http.DefaultClient.Do(req)
	rig.Must(t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	rig.Must(t, err)
	return resp.StatusCode, got
}

func textOf(t *testing.T, data []byte) string {
	t.Helper()
	var m struct {
		Content []struct{ Type, Text, Name string }
	}
	if err := json.Unmarshal(data, &m); err != nil || len(m.Content) != 1 {
		t.Fatalf("answer %s: %v", data, err)
	}
	return m.Content[0].Text + m.Content[0].Name
}

func TestAnswers(t *testing.T) {
	s := start(t, Options{})
	reminder := "<system-reminder>\nRemember 99\n</system-reminder>"
	cases := map[string]struct {
		lines []string
		want  string
	}{
		"remember":         {[]string{"user: Remember 42."}, "OK, I will remember 42."},
		"recall":           {[]string{"user: Remember 42.", "assistant: OK.", "user: What number?"}, "42"},
		"newest wins":      {[]string{"user: Remember 1", "assistant: OK", "user: Remember 2", "assistant: OK", "user: What number?"}, "2"},
		"nothing known":    {[]string{"user: What number?"}, "I don't know any number."},
		"reminder ignored": {[]string{"user: " + reminder + "What number?"}, "I don't know any number."},
		"echo":             {[]string{"user: hello"}, "You said: hello"},
		"system behind":    {[]string{"user: Remember 7", "system: # Environment"}, "OK, I will remember 7."},
		"failed prompt":    {[]string{"user: [[error 500]]", "user: hello"}, "You said: hello"},
		"model says not":   {[]string{"assistant: Remember 5", "user: What number?"}, "I don't know any number."},
		"long":             {[]string{"user: " + strings.Repeat("ä", 300)}, "You said: " + strings.Repeat("ä", 200)},
		"nothing":          {nil, "You said: "},
		"slash apart":      {[]string{"user: /", "user: clear"}, "You said: /clear"},
		"goes on":          {[]string{"user: Remember 8 [[error 500]]", "user: Continue from where you left off.", "assistant: No response requested.", "user: " + goOn}, "OK, I will remember 8."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			code, data := post(t, s, nil, c.lines...)
			got := textOf(t, data)
			rig.Check(t, code == 200 && got == c.want, "%d %q, want %q", code, got, c.want)
		})
	}
}

func TestObserver(t *testing.T) {
	s := start(t, Options{})
	observer := object{"system": "You are the observer of an agent's work. Note."}
	ask := func(lines ...string) (int, string) {
		status, body := post(t, s, observer, lines...)
		var got struct{ Content []struct{ Text string } }
		rig.Must(t, json.Unmarshal(body, &got))
		if len(got.Content) == 0 {
			return status, ""
		}
		return status, got.Content[0].Text
	}
	shown := "user: <transcript 1>\n[user] decision: use X\nopen end: tests\n[agent] You said: decision: use X [[error 400]] "
	const noted = `{"observations":[{"type":"decision","title":"use X"},{"type":"open_end","title":"tests"}]}`
	_, got := ask(shown)
	rig.Equal(t, got, noted, "what is noted")
	_, got = ask(shown + "[[observer wrong]]")
	rig.Check(t, !strings.Contains(got, "{"), "a wrong answer: %s", got)
	_, got = ask(shown+"[[observer wrong]]", "assistant: "+got, "user: Again.")
	rig.Equal(t, got, noted, "what is noted then")
	_, got = ask(shown+"[[observer wrong always]]", "assistant: "+got, "user: Again.")
	rig.Check(t, !strings.Contains(got, "{"), "a wrong answer again: %s", got)
	status, _ := ask(shown + "[[observer error 529 times=1]]")
	rig.Equal(t, status, 529, "status of an error for the observer")
}

func TestTerse(t *testing.T) {
	s := start(t, Options{})
	system := object{"system": []object{{"type": "text", "text": "You are Bubba. Be terse."}}}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"user: Remember 42."}, "OK."},
		{[]string{"user: Remember 42.", "assistant: OK.", "user: What number?"}, "42."},
		{[]string{"user: What number?"}, "I don't have any number in mind."},
	} {
		if _, data := post(t, s, system, c.lines...); textOf(t, data) != c.want {
			t.Errorf("%q: %s", c.lines, data)
		}
	}
}

func TestFailsMidstream(t *testing.T) {
	s := start(t, Options{})
	code, data := post(t, s, object{"stream": true}, "user: [[error 529 midstream times=1]] hello")
	if code != 200 || !strings.Contains(string(data), "text_delta") || !strings.Contains(string(data), "event: error") || !strings.Contains(string(data), "overloaded_error") {
		t.Errorf("%d %s", code, data)
	}
	if _, data = post(t, s, object{"stream": true}, "user: [[error 529 midstream times=1]] hello"); !strings.Contains(string(data), "message_stop") {
		t.Errorf("second attempt: %s", data)
	}
	if code, _ := post(t, s, nil, "user: [[error 401 midstream]]"); code != 401 {
		t.Errorf("no stream: %d", code)
	}
	body := strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"[[drop midstream]]"}]}`)
	resp, err := http.Post(s.URL()+"/v1/messages", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err == nil || !strings.Contains(string(got), "text_delta") {
		t.Errorf("dropped: %s %v", got, err)
	}
}

func TestToolIsAskedForOnce(t *testing.T) {
	s := start(t, Options{})
	ask := object{"role": "user", "content": `[[tool Bash {"command":"echo ]] }"}]] please`}
	_, data := postMessages(t, s, nil, []object{ask})
	var m struct {
		Content []struct {
			ID, Name string
			Input    struct{ Command string }
		}
		StopReason string `json:"stop_reason"`
	}
	rig.Must(t, json.Unmarshal(data, &m))
	if c := m.Content[0]; c.Name != "Bash" || c.Input.Command != "echo ]] }" || c.ID == "" || m.StopReason != "tool_use" {
		t.Fatalf("tool call = %s", data)
	}
	result := object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": m.Content[0].ID, "content": "all done"}}}
	_, data = postMessages(t, s, nil, []object{ask, {"role": "assistant", "content": m.Content[0].Name}, result})
	got := textOf(t, data)
	rig.Check(t, got == "Tool said: all done", "after the result: %q", got)
}

func TestToolsAreAskedForAtOnce(t *testing.T) {
	s := start(t, Options{})
	inner := `[[tool Bash {"command":"true"}]]`
	quoted, err := json.Marshal(inner)
	rig.Must(t, err)
	ask := object{"role": "user", "content": `[[tool Agent {"prompt":` + string(quoted) + `}]] [[tool Read {"file_path":"a"}]]`}
	for _, streams := range []bool{false, true} {
		_, data := postMessages(t, s, object{"stream": streams}, []object{ask})
		for _, words := range []string{`"name":"Agent"`, `"name":"Read"`, `"stop_reason":"tool_use"`} {
			rig.Check(t, strings.Count(string(data), words) == 1, "%s: %s", words, data)
		}
		rig.Check(t, !strings.Contains(string(data), `"name":"Bash"`), "what is in an input was asked for: %s", data)
	}
}

func TestErrors(t *testing.T) {
	s := start(t, Options{})
	for range 2 {
		code, data := post(t, s, nil, "user: [[error 529 times=2]] hello")
		rig.Check(t, code == 529 && strings.Contains(string(data), `"overloaded_error"`), "%d %s", code, data)
	}
	code, data := post(t, s, nil, "user: [[error 529 times=2]] hello")
	rig.Check(t, code == 200, "third attempt: %d %s", code, data)
	for range 4 {
		code, _ := post(t, s, nil, "user: [[error 429]]")
		rig.Check(t, code == 429, "429 healed: %d", code)
	}
	failing, _ := post(t, s, nil, "user: [[error 529 until=healed]] hello")
	s.Release("healed")
	healed, _ := post(t, s, nil, "user: [[until healed]] [[error 529 until=healed]] hello")
	rig.Check(t, failing == 529 && healed == 200, "before its release %d, after it %d", failing, healed)
	code, data = post(t, s, nil, "user: [[error too-long]]")
	rig.Check(t, code == 400 && strings.Contains(string(data), "prompt is too long: "), "%d %s", code, data)
}

func TestRetryAfterComesWith429(t *testing.T) {
	s := start(t, Options{})
	resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"[[error 429]]"}]}`))
	rig.Must(t, err)
	defer resp.Body.Close()
	rig.Check(t, resp.Header.Get("Retry-After") == "1", "headers = %v", resp.Header)
}

func TestStreamIsTheWholeAnswer(t *testing.T) {
	s := start(t, Options{})
	_, data := post(t, s, object{"stream": true}, "user: say [[usage 123456]] this")
	var text, events strings.Builder
	input := 0
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		payload, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Delta   struct{ Text string }
			Message struct {
				Usage struct {
					Input int `json:"input_tokens"`
				}
			}
		}
		rig.Must(t, json.Unmarshal([]byte(payload), &e))
		text.WriteString(e.Delta.Text)
		events.WriteString(e.Type + " ")
		input += e.Message.Usage.Input
	}
	rig.Check(t, text.String() == "You said: say [[usage 123456]] this" && input == 123456, "text %q, input %d", text.String(), input)
	if !strings.HasPrefix(events.String(), "message_start content_block_start") || !strings.HasSuffix(events.String(), "content_block_stop message_delta message_stop ") {
		t.Errorf("events = %s", events.String())
	}
}

func TestDemandedJSON(t *testing.T) {
	s := start(t, Options{})
	shape := object{"type": "object", "required": []string{"title", "n", "kind"}, "properties": object{
		"title": object{"type": "string"}, "n": object{"type": "integer"}, "kind": object{"enum": []string{"a", "b"}}, "more": object{"type": "array"}}}
	_, data := post(t, s, object{"output_config": object{"format": object{"type": "json_schema", "schema": shape}}}, "user: hello")
	got := textOf(t, data)
	rig.Check(t, got == `{"kind":"a","n":0,"title":"You said: hello"}`, "json = %s", got)
	_, data = post(t, s, object{"tools": []object{{"name": "T", "input_schema": shape}}, "tool_choice": object{"type": "tool", "name": "T"}}, "user: hello")
	got = textOf(t, data)
	rig.Check(t, got == "T", "forced tool = %s", data)
}

func TestSideQueryIsNotTheUsers(t *testing.T) {
	s := start(t, Options{})
	code, data := post(t, s, nil, "user: <session>\n[[error 500]] hello\n</session>\n\nWrite the title")
	if code != 200 || !s.Requests()[0].Side {
		t.Errorf("%d %s %+v", code, data, s.Requests())
	}
}

func TestRequestsAndLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	s := start(t, Options{LogFile: file})
	post(t, s, nil, "user: one", "assistant: two", "user: three")
	got := s.Requests()
	if len(got) != 1 || got[0].SessionID != "session-1" || got[0].Model != "sonnet-test" || got[0].Last() != "three" || len(got[0].Texts) != 2 || len(got[0].Body) == 0 {
		t.Errorf("requests = %+v", got)
	}
	data, err := os.ReadFile(file)
	rig.Must(t, err)
	var logged Request
	err = json.Unmarshal(data, &logged)
	rig.Check(t, err == nil && logged.Last() == "three" && logged.Status == 200, "logged %s: %v", data, err)
}

func TestOtherEndpoints(t *testing.T) {
	s := start(t, Options{})
	resp, err := http.Head(s.URL() + "/")
	rig.Check(t, err == nil && resp.StatusCode == 200, "HEAD / = %v, %v", resp, err)
	resp, err = http.Get(s.URL() + "/v1/other")
	rig.Check(t, err == nil && resp.StatusCode == 404, "unknown = %v, %v", resp, err)
	resp, err = http.Post(s.URL()+"/v1/messages/count_tokens", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"[[usage 77]]"}]}`))
	rig.Must(t, err)
	data, _ := io.ReadAll(resp.Body)
	rig.Check(t, strings.TrimSpace(string(data)) == `{"input_tokens":77}`, "count = %s", data)
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "localhost:0", "192.0.2.1:0", "nonsense"} {
		if s, err := Start(Options{Listen: address}); err == nil {
			t.Errorf("served on %s", address)
			_ = s.Close()
		}
	}
}

func TestPauseLastsAndEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if !pause(t.Context(), 2*time.Second) || time.Since(begin) != 2*time.Second {
			t.Errorf("paused for %v", time.Since(begin))
		}
	})
}

func TestCloseDoesNotWaitForADelay(t *testing.T) {
	s, err := Start(Options{})
	rig.Must(t, err)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"[[delay 1h]]"}]}`))
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	rig.Eventually(t, "the request arrives", func() bool { return len(s.Requests()) > 0 })
	err = s.Close()
	rig.Check(t, err == nil, "%v", err)
	<-answered
}
