package main

import (
	"bufio"
	"net/http"
	"net/url"
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
