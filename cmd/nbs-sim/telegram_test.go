package main

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/telegram"
)

func TestTelegramAnnouncesItselfAndEndsOnTerm(t *testing.T) {
	cmd := sim(t, "telegram", "--token", "5:x")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Get(strings.TrimSpace(line) + "/bot5:x/getMe")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("its token is answered with %s", response.Status)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAScriptTalksToTheBot(t *testing.T) {
	server, err := telegram.Start(telegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	replied := make(chan error, 1)
	go func() { // the bot
		if err := server.AwaitCalls(t.Context(), "getMe", 1); err != nil {
			replied <- err
			return
		}
		_, err := http.PostForm(server.URL()+"/bot"+telegram.Token+"/sendMessage", url.Values{"chat_id": {"1"}, "text": {"OK."}})
		replied <- err
	}()
	out, err := sim(t, "telegram", "say", "--url", server.URL(), "--wait", "1ms", "Are you there?").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "fewer than 1 replies") {
		t.Errorf("nobody answered: %q, %v", out, err)
	}
	if _, err := http.Get(server.URL() + "/bot" + telegram.Token + "/getMe"); err != nil {
		t.Fatal(err)
	}
	if out, err := sim(t, "telegram", "say", "--replies", "0", "--url", server.URL(), "Remember", "42.").CombinedOutput(); err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if err := <-replied; err != nil {
		t.Fatal(err)
	}
	out, err = sim(t, "telegram", "show", "--url", server.URL()).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "User: Are you there?\n") || !strings.Contains(string(out), "User: Remember 42.\n") || !strings.Contains(string(out), "Agent: OK.\n") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestAScriptPlaysAFamily(t *testing.T) {
	server, err := telegram.Start(telegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	does := func(verb string, args ...string) string {
		t.Helper()
		out, err := sim(t, append([]string{"telegram", verb, "--url", server.URL()}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %q, %v", verb, out, err)
		}
		return strings.TrimSpace(string(out))
	}
	does("user", "--id", "1", "--username", "ann", "Ann")
	does("group", "--id", "-1001", "--kind", "forum", "Home")
	topic := does("topic", "--chat", "-1001", "Food")
	does("say", "--chat", "-1001", "--from", "1", "--topic", topic, "--replies", "0", "Milk?")
	picture := filepath.Join(t.TempDir(), "milk.jpg")
	if err := os.WriteFile(picture, []byte("milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	does("say", "--file", picture, "--as", "photo", "--replies", "0", "this one")
	does("edit", "--message", "4", "that one")
	if _, err := http.PostForm(server.URL()+"/bot"+telegram.Token+"/sendMessage", url.Values{
		"chat_id": {"1"}, "text": {"Sure?"}, "reply_markup": {`{"inline_keyboard":[[{"text":"Yes","callback_data":"y"}]]}`},
	}); err != nil {
		t.Fatal(err)
	}
	does("press", "--message", "5", "y")
	if got := does("show"); got != "User: [photo] that one\nAgent: Sure?\n  [Yes] y, of message 5" {
		t.Errorf("the chat is %q", got)
	}
	does("faults")
	response, err := http.Get(server.URL() + "/bot" + telegram.Token + "/getUpdates")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	for _, want := range []string{`"username":"ann"`, `"text":"Milk?"`, `"message_thread_id":` + topic, `"edited_message"`, `"callback_query"`} {
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s is not in %s, %v", want, body, err)
		}
	}
}
