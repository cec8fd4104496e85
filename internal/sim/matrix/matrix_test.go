package matrix_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/matrix"
)

const (
	ann  = "@ann:localhost"
	home = "!home:localhost"
)

// start serves a room with Ann and the bot.
func start(t *testing.T) *matrix.Server {
	t.Helper()
	s, err := matrix.Start(matrix.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.Know(ann, "Ann")
	s.Room(home, "Home", ann, matrix.Bot)
	return s
}

// call makes a request of the bot's, and returns the answer.
func call(t *testing.T, s *matrix.Server, method, path, body string) string {
	t.Helper()
	return callWith(t, s, matrix.Token, method, path, "application/json", body)
}

func callWith(t *testing.T, s *matrix.Server, token, method, path, kind, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+"/_matrix/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(answer))
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %s", part, got)
		}
	}
}

func room(id string) string { return "client/v3/rooms/" + url.PathEscape(id) }

func send(t *testing.T, s *matrix.Server, txn, content string) (event string) {
	t.Helper()
	var sent struct {
		ID string `json:"event_id"`
	}
	answer := call(t, s, "PUT", room(home)+"/send/m.room.message/"+txn, content)
	if err := json.Unmarshal([]byte(answer), &sent); err != nil || sent.ID == "" {
		t.Errorf("the answer is %s, %v", answer, err)
	}
	return sent.ID
}

// synced is what a test reads of a sync.
type synced struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join map[string]struct {
			State, Timeline struct {
				Events []struct {
					Type, Sender string
					ID           string `json:"event_id"`
					Content      struct {
						Body string `json:"body"`
					} `json:"content"`
				} `json:"events"`
				Limited bool   `json:"limited"`
				Before  string `json:"prev_batch"`
			}
		} `json:"join"`
		Invite map[string]any `json:"invite"`
		Leave  map[string]any `json:"leave"`
	} `json:"rooms"`
}

func sync(t *testing.T, s *matrix.Server, since string, wait time.Duration, filter string) (got synced) {
	t.Helper()
	query := url.Values{"timeout": {strconv.Itoa(int(wait.Milliseconds()))}}
	if since != "" {
		query.Set("since", since)
	}
	if filter != "" {
		query.Set("filter", filter)
	}
	answer := call(t, s, "GET", "client/v3/sync?"+query.Encode(), "")
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Errorf("the sync is %s, %v", answer, err)
	}
	return got
}

// said are the texts of the timeline of the room.
func (s synced) said() (texts []string) {
	for _, e := range s.Rooms.Join[home].Timeline.Events {
		if e.Type == "m.room.message" {
			texts = append(texts, e.Content.Body)
		}
	}
	return texts
}

func TestASyncGivesWhatCameAfterSince(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := sync(t, s, "", time.Minute, "")
	s.Say(home, ann, "one")
	s.Say(home, ann, "two")
	for range 2 { // the same again, until another since is given
		if got := sync(t, s, first.Next, time.Minute, "").said(); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("the sync has %q", got)
		}
	}
	second := sync(t, s, first.Next, 0, "")
	if third := sync(t, s, second.Next, time.Millisecond, ""); third.Next != second.Next || len(third.Rooms.Join) > 0 {
		t.Errorf("nothing happened, and the sync is %+v", third)
	}
	came := make(chan synced, 1)
	go func() { came <- sync(t, s, second.Next, time.Minute, "") }()
	if err := s.AwaitCalls(t.Context(), "sync", 6); err != nil {
		t.Fatal(err)
	}
	s.Say(home, ann, "three")
	if got := (<-came).said(); !slices.Equal(got, []string{"three"}) {
		t.Errorf("the sync that waited has %q", got)
	}
	contains(t, call(t, s, "GET", "client/v3/sync?since=x", ""), "M_UNKNOWN")
}

func TestALimitedTimelineHasItsGapInTheMessages(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := sync(t, s, "", 0, "")
	for i := range 7 {
		s.Say(home, ann, strconv.Itoa(i))
	}
	got := sync(t, s, first.Next, 0, `{"room":{"timeline":{"limit":2}}}`)
	if !got.Rooms.Join[home].Timeline.Limited || !slices.Equal(got.said(), []string{"5", "6"}) {
		t.Errorf("the sync is %+v", got)
	}
	page := call(t, s, "GET", room(home)+"/messages?dir=b&limit=3&from="+got.Rooms.Join[home].Timeline.Before+"&to="+first.Next, "")
	contains(t, page, `"body":"4"`, `"body":"2"`, `"end":"`)
	_, end, _ := strings.Cut(page, `"end":"`)
	end, _, _ = strings.Cut(end, `"`)
	page = call(t, s, "GET", room(home)+"/messages?dir=b&limit=3&from="+end+"&to="+first.Next, "")
	contains(t, page, `"body":"1"`, `"body":"0"`)
	if strings.Contains(page, `"end"`) || strings.Contains(page, "m.room.create") {
		t.Errorf("the last page is %s", page)
	}
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := sync(t, s, "", 0, "")
	s.Room("!new:localhost", "New", ann)
	s.Say("!new:localhost", ann, "before")
	contains(t, call(t, s, "POST", room("!new:localhost")+"/join", "{}"), "M_FORBIDDEN")
	s.Invite("!new:localhost", ann)
	second := sync(t, s, first.Next, time.Minute, "")
	if _, is := second.Rooms.Invite["!new:localhost"]; !is || len(second.Rooms.Join) > 0 {
		t.Errorf("the sync is %+v", second)
	}
	contains(t, call(t, s, "POST", room("!new:localhost")+"/join", "{}"), `{"room_id":"!new:localhost"}`)
	third := sync(t, s, second.Next, time.Minute, "")
	if got := third.Rooms.Join["!new:localhost"].Timeline.Events; len(got) != 6 || got[3].Content.Body != "before" {
		t.Errorf("the new room is %+v", got)
	}
	s.Kick("!new:localhost", ann)
	if _, is := sync(t, s, third.Next, time.Minute, "").Rooms.Leave["!new:localhost"]; !is {
		t.Error("the bot was thrown out, and the sync does not say so")
	}
	contains(t, call(t, s, "PUT", room("!new:localhost")+"/send/m.room.message/1", `{"msgtype":"m.text","body":"x"}`), "M_FORBIDDEN")
}

func TestARepeatedTransactionIsOneEvent(t *testing.T) {
	t.Parallel()
	s := start(t)
	content := `{"msgtype":"m.text","body":"Hello"}`
	one, two := send(t, s, "a", content), send(t, s, "a", content)
	if sent := s.Sent(home); one != two || !slices.Equal(sent, []string{"Hello"}) {
		t.Errorf("the events are %s and %s, and the room has %q", one, two, sent)
	}
	s.SetToken("next", "OTHER") // another device has transactions of its own
	contains(t, call(t, s, "GET", "client/v3/account/whoami", ""), `"errcode":"M_UNKNOWN_TOKEN"`, `"soft_logout":false`)
	callWith(t, s, "next", "PUT", room(home)+"/send/m.room.message/a", "application/json", content)
	if sent := s.Sent(home); len(sent) != 2 {
		t.Errorf("the room has %q", sent)
	}
	if faults := s.Faults(); len(faults) > 0 {
		t.Errorf("faults = %q", faults)
	}
}

func TestEditsThreadsAndRedactions(t *testing.T) {
	t.Parallel()
	s := start(t)
	asked := s.Say(home, ann, "What?")
	inThread := `"m.relates_to":{"rel_type":"m.thread","event_id":"` + asked.ID + `","is_falling_back":true,"m.in_reply_to":{"event_id":"` + asked.ID + `"}}`
	id := send(t, s, "1", `{"msgtype":"m.text","body":"That","format":"org.matrix.custom.html","formatted_body":"<b>That</b>",`+inThread+`}`)
	send(t, s, "2", `{"msgtype":"m.text","body":"* This","m.new_content":{"msgtype":"m.text","body":"This"},"m.relates_to":{"rel_type":"m.replace","event_id":"`+id+`"}}`)
	if got := s.Bots(home); len(got) != 1 || got[0].Text != "This" || got[0].HTML != "" || got[0].Thread != asked.ID || !slices.Equal(got[0].Before, []string{"That"}) {
		t.Errorf("the room shows %+v", got)
	}
	contains(t, call(t, s, "PUT", room(home)+"/send/m.room.message/3", `{"msgtype":"m.text","body":"x","m.relates_to":{"rel_type":"m.thread","event_id":"`+id+`"}}`),
		"M_UNKNOWN", "Cannot start threads")
	contains(t, call(t, s, "PUT", room(home)+"/redact/"+url.PathEscape(asked.ID)+"/4", `{}`), "M_FORBIDDEN")
	contains(t, call(t, s, "PUT", room(home)+"/redact/"+url.PathEscape(id)+"/4", `{}`), `"event_id"`)
	if sent, faults := s.Sent(home), s.Faults(); len(sent) > 0 || len(faults) > 0 {
		t.Errorf("the room has %q, the faults are %q", sent, faults)
	}
}

func TestTooLargeAndTooFast(t *testing.T) {
	t.Parallel()
	s := start(t)
	contains(t, call(t, s, "PUT", room(home)+"/send/m.room.message/1", `{"msgtype":"m.text","body":"`+strings.Repeat("x", 65000)+`"}`), "M_TOO_LARGE")
	send(t, s, "2", `{"msgtype":"m.text","body":"`+strings.Repeat("x", 64000)+`"}`)
	s.Fail(matrix.Failure{Method: "send", Code: 429, RetryAfter: 60000})
	for range 2 {
		contains(t, call(t, s, "PUT", room(home)+"/send/m.room.message/3", `{"msgtype":"m.text","body":"x"}`), `"errcode":"M_LIMIT_EXCEEDED"`, `"retry_after_ms":`)
	}
	if s.Hasty() != 1 {
		t.Errorf("hasty = %d", s.Hasty())
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()
	s := start(t)
	answer := callWith(t, s, matrix.Token, "POST", "media/v3/upload?filename=a.md", "text/markdown", "# A")
	contains(t, answer, `{"content_uri":"mxc://localhost/file1"}`)
	if got := callWith(t, s, matrix.Token, "GET", "client/v1/media/download/localhost/file1", "", ""); got != "# A" {
		t.Errorf("the file is %q", got)
	}
	contains(t, callWith(t, s, "wrong", "GET", "client/v1/media/download/localhost/file1", "", ""), "M_UNKNOWN_TOKEN")
	contains(t, callWith(t, s, matrix.Token, "POST", "media/v3/upload", "text/plain", strings.Repeat("x", matrix.MaxUpload+1)), "M_TOO_LARGE")
	send(t, s, "1", `{"msgtype":"m.file","body":"a.md","filename":"a.md","url":"mxc://localhost/file1","info":{"size":3}}`)
	if got := s.Bots(home); got[0].Media == nil || string(got[0].Media.Content) != "# A" || len(s.Faults()) > 0 {
		t.Errorf("the room shows %+v, the faults are %q", got, s.Faults())
	}
}

func TestAWrongRequestIsNoted(t *testing.T) {
	t.Parallel()
	s := start(t)
	asked := s.Say(home, ann, "What?")
	for i, content := range []string{
		`{"msgtype":"m.text","text":"x"}`,
		`{"msgtype":"m.text","body":"x","format":"org.matrix.custom.html"}`,
		`{"msgtype":"m.text","body":"x","format":"org.matrix.custom.html","formatted_body":"<script>x</script><b>y"}`,
		`{"msgtype":"m.text","body":"x","format":"org.matrix.custom.html","formatted_body":"<a href=\"javascript:x\">x</a>"}`,
		`{"msgtype":"m.file","body":"x","url":"mxc://localhost/none"}`,
		`{"msgtype":"m.text","body":"x","m.relates_to":{"rel_type":"m.replace","event_id":"` + asked.ID + `"}}`,
	} {
		call(t, s, "PUT", room(home)+"/send/m.room.message/"+strconv.Itoa(i), content)
	}
	send(t, s, "0", `{"msgtype":"m.text","body":"y"}`)
	call(t, s, "GET", "client/v3/sync?limit=3", "")
	call(t, s, "GET", "client/r0/sync", "")
	want := []string{
		`m.room.message has no field "text"`, "m.room.message has no body", "m.room.message has the format org.matrix.custom.html without its formatted_body",
		"m.room.message has HTML that clients drop: <script>", "m.room.message has HTML that clients drop: </script>",
		"m.room.message has HTML that clients drop: <b> without an end", `m.room.message has HTML that clients drop: <a href="javascript:x">`,
		`m.room.message has the url "mxc://localhost/none", which was not uploaded`,
		"the edit of " + asked.ID + " does not count: new content false, an answer false, of " + ann + ", of an edit false",
		"transaction 0 has two contents: <nil>, y", `sync: there is no query parameter "limit"`, "there is no GET /_matrix/client/r0/sync",
	}
	got := slices.DeleteFunc(s.Faults(), func(f string) bool {
		return f == "m.room.message has HTML that clients drop: </script> without a beginning"
	})
	if !slices.Equal(got, want) {
		t.Errorf("faults = %q", got)
	}
}

func TestAnEncryptedRoomHasNoWords(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := sync(t, s, "", 0, "")
	s.Encrypt(home, ann)
	s.Say(home, ann, "secret")
	answer := call(t, s, "GET", "client/v3/sync?since="+first.Next, "")
	contains(t, answer, "m.room.encryption", `"type":"m.room.encrypted"`, "m.megolm.v1.aes-sha2")
	if strings.Contains(answer, "secret") {
		t.Errorf("the sync is %s", answer)
	}
}
