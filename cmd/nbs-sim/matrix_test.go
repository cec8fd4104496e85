package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/matrix"
)

func TestAScriptWritesIntoARoom(t *testing.T) {
	server, err := matrix.Start(matrix.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	does := func(verb string, args ...string) string {
		t.Helper()
		out, err := sim(t, append([]string{"matrix", verb, "--url", server.URL()}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %q, %v", verb, out, err)
		}
		return strings.TrimSpace(string(out))
	}
	does("room", "--id", "!home:localhost", "@ann:localhost", "@bob:localhost")
	picture := filepath.Join(t.TempDir(), "milk.jpg")
	if err := os.WriteFile(picture, []byte("milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	to := []string{"--room", "!home:localhost", "--from", "@ann:localhost", "--replies", "0"}
	does("say", append(to, "--mention", "Are you there?")...)
	does("say", append(to, "--file", picture, "--as", "m.image", "this one")...)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL()+"/_matrix/client/v3/rooms/!home:localhost/send/m.room.message/1", strings.NewReader(`{"msgtype":"m.text","body":"Yes."}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + matrix.Token}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got := does("show", "--room", "!home:localhost"); got != "@ann:localhost: Are you there?\n@ann:localhost: this one\n"+matrix.Bot+": Yes." {
		t.Errorf("the room is %q", got)
	}
	does("faults")
	out, err := sim(t, "matrix", "say", "--url", server.URL(), "--room", "!home:localhost", "--from", "@eve:localhost", "Hello").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the user is not in the room") {
		t.Errorf("a stranger wrote: %q, %v", out, err)
	}
}
