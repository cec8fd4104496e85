package telegram_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"nbs-worker/internal/sim/telegram"
)

func start(t *testing.T) *telegram.Server {
	t.Helper()
	s, err := telegram.Start(telegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// call calls a method of the Bot API and returns what it answered, on one line.
func call(t *testing.T, s *telegram.Server, method string, params ...string) string {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	response, err := http.PostForm(s.URL()+"/bot"+telegram.Token+"/"+method, form)
	if err != nil {
		t.Fatal(err)
	}
	return content(t, response)
}

func content(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(body))
}

func contains(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s does not contain %s", got, part)
		}
	}
}

func TestAnUpdateIsKeptUntilItIsAcknowledged(t *testing.T) {
	s := start(t)
	s.Say(7, "one")
	s.Say(7, "two")
	for range 2 {
		contains(t, call(t, s, "getUpdates"), `"update_id":1`, `"text":"one"`, `"update_id":2`, `"id":7`)
	}
	if got := call(t, s, "getUpdates", "offset", "2"); strings.Contains(got, "one") || !strings.Contains(got, "two") {
		t.Errorf("after the first was acknowledged: %s", got)
	}
	contains(t, call(t, s, "getUpdates", "offset", "3"), `"result":[]`)
}

func TestASecondPollEndsTheFirst(t *testing.T) {
	s := start(t)
	first := make(chan string)
	go func() {
		response, err := http.PostForm(s.URL()+"/bot"+telegram.Token+"/getUpdates", url.Values{"timeout": {"60"}})
		if err != nil {
			first <- err.Error()
			return
		}
		first <- content(t, response)
	}()
	if err := s.AwaitCalls(t.Context(), "getUpdates", 1); err != nil {
		t.Fatal(err)
	}
	for ended := false; !ended; { // the first is counted before it waits
		call(t, s, "getUpdates")
		select {
		case answer := <-first:
			contains(t, answer, `"error_code":409`)
			ended = true
		default:
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	s := start(t)
	s.Block(8, true)
	contains(t, call(t, s, "sendMessage", "chat_id", "7", "text", " \n"), "message text is empty")
	contains(t, call(t, s, "sendMessage", "chat_id", "7", "text", strings.Repeat("\U0001F600", 2049)), "message is too long")
	contains(t, call(t, s, "sendMessage", "chat_id", "8", "text", "hello"), `"error_code":403`)
	contains(t, call(t, s, "sendPoll", "chat_id", "7"), `"error_code":404`)
	contains(t, call(t, s, "sendMessage", "chat_id", "7", "text", strings.Repeat("\U0001F600", 2048)), `"ok":true`)
	s.Fail(telegram.Failure{Method: "sendMessage", Code: 429, RetryAfter: 60})
	for range 2 {
		contains(t, call(t, s, "sendMessage", "chat_id", "7", "text", "hello"), `"error_code":429`, `"retry_after":60`)
	}
	if s.Hasty() != 1 {
		t.Errorf("hasty = %d", s.Hasty())
	}
	response, err := http.Get(s.URL() + "/botwrong/getMe")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, content(t, response), `"error_code":401`)
}

func TestScriptsWriteAsUsers(t *testing.T) {
	s := start(t)
	post := func(path string, what any) string {
		body, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.Post(s.URL()+"/control/"+path, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		return content(t, response)
	}
	contains(t, post("say", map[string]any{"chat": 7, "text": "hello"}), `"number":1`)
	contains(t, call(t, s, "getUpdates"), "hello")
	call(t, s, "sendMessage", "chat_id", "7", "text", "good day")
	response, err := http.Get(s.URL() + "/control/chat?chat=7&after=1&replies=1&wait=10s")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, content(t, response), `"good day"`)
	post("fail", telegram.Failure{Method: "getMe", Code: 500})
	contains(t, call(t, s, "getMe"), `"error_code":500`)
	contains(t, call(t, s, "getMe"), telegram.Name)
	post("block", map[string]any{"chat": 7, "blocked": true})
	contains(t, call(t, s, "sendMessage", "chat_id", "7", "text", "hello"), `"error_code":403`)
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	if _, err := telegram.Start(telegram.Options{Listen: "0.0.0.0:0"}); err == nil {
		t.Error("it listens for everybody")
	}
}
