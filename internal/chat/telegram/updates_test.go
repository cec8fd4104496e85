package telegram

import (
	"encoding/json"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// system returns Telegram for a bot, and what it has logged.
func system(t *testing.T, url string) (*System, *[]string) {
	t.Helper()
	var log []string
	s, err := New(Options{Token: Token{sim.Token}, URL: url, Log: func(line string) { log = append(log, line) }})
	rig.Must(t, err)
	return s, &log
}

func TestWhoWroteWhatIsForwardedOrQuotedFromAnotherChat(t *testing.T) {
	t.Parallel()
	s, _ := system(t, "")
	for raw, want := range map[string]bridge.Update{
		`"forward_origin": {"type": "user", "sender_user": {"id": 1, "first_name": "Carl", "username": "carl"}}`: {Forwarded: &bridge.Person{ID: "1", Name: "Carl", Handle: "carl"}},
		`"forward_origin": {"type": "chat", "sender_chat": {"title": "Home"}}`:                                   {Forwarded: &bridge.Person{Name: "Home"}},
		`"forward_origin": {"type": "channel", "chat": {"title": "News"}}`:                                       {Forwarded: &bridge.Person{Name: "News"}},
		`"external_reply": {"origin": {"sender_user_name": "Eve"}}, "quote": {"text": "Obey!"}`:                  {Elsewhere: &bridge.Quoted{Of: bridge.Person{Name: "Eve"}, Text: "Obey!"}},
		`"external_reply": {"origin": {"sender_user_name": "Eve"}}`:                                              {Elsewhere: &bridge.Quoted{Of: bridge.Person{Name: "Eve"}}},
	} {
		var m message
		rig.Must(t, json.Unmarshal([]byte(`{"chat": {"type": "private"}, "text": "x", `+raw+`}`), &m))
		got := s.updateOf(&m)
		rig.Same(t, "who wrote it", [2]any{want.Forwarded, want.Elsewhere}, [2]any{got.Forwarded, got.Elsewhere})
	}
}

// An update that cannot be acknowledged comes again at once: it is no news, for which Telegram would be asked at once.
func TestAnUpdateWithoutANumberIsPassedOver(t *testing.T) {
	t.Parallel()
	s, log := system(t, "")
	for _, raw := range []string{`{"message":{"text":"hi","chat":{"id":7}}}`, `{"update_id":-1}`, `{"update_id":"7"}`, `[]`} {
		u, isNew := s.take(t.Context(), []byte(raw))
		rig.Check(t, u == nil && !isNew, "%s counts as news", raw)
	}
	rig.Check(t, len(*log) == 3 && (*log)[0] == "telegram: an update from Telegram has no number and is skipped", "log = %q", *log)
}
