package telegram_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/telegram"
)

const home = -1001234

// family is a forum with two people and a topic.
func family(t *testing.T, opts telegram.Options) (s *telegram.Server, food int) {
	t.Helper()
	s, err := telegram.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Know(telegram.User{ID: 1, FirstName: "Ann", Username: "ann_of_home"})
	s.Know(telegram.User{ID: 2, FirstName: "Bob"})
	s.Forum(home, "Home")
	return s, s.Topic(home, 1, "Food")
}

func TestWhoSpeaksAndWhere(t *testing.T) {
	t.Parallel()
	s, food := family(t, telegram.Options{})
	asked := s.SayAs(1, home, "Milk?", telegram.InTopic(food))
	s.SayAs(2, home, "Yes @simulated_bot and @ann_of_home", telegram.InTopic(food), telegram.ReplyingTo(asked.Number), telegram.Quoting("Milk"))
	s.SayAs(2, home, "/status@simulated_bot in the first topic")
	s.SayAs(1, 1, "Dear Bob, hello", telegram.Mentioning("Bob", telegram.User{ID: 2, FirstName: "Bob"}), telegram.Marked("hello", "bold"), telegram.ForwardedFrom("Carl"))
	updates := strings.Split(call(t, s, "getUpdates"), `"update_id"`)
	contains(t, updates[0], `"forum_topic_created":{"icon_color":7322096,"name":"Food"}`, fmt.Sprintf(`"message_thread_id":%d`, food))
	contains(t, updates[1], `"text":"Milk?"`, `"is_topic_message":true`, `"username":"ann_of_home"`, `"is_forum":true`, `"title":"Home"`,
		`"reply_to_message":{`, `"forum_topic_created"`) // as in Telegram, what opened the topic
	contains(t, updates[2], `"first_name":"Bob"`, `"quote":{"is_manual":true,"position":0,"text":"Milk"}`, `"text":"Milk?"`,
		`{"type":"mention","offset":4,"length":14}`, `{"type":"mention","offset":23,"length":12}`)
	contains(t, updates[3], `{"type":"bot_command","offset":0,"length":21}`)
	if strings.Contains(updates[3], "message_thread_id") {
		t.Errorf("a message of the first topic has a number: %s", updates[3])
	}
	contains(t, updates[4], `"type":"text_mention","offset":5,"length":3,"user":{"id":2`, `"type":"bold","offset":10`, `"sender_user_name":"Carl"`, `"type":"private"`)
}

func TestAnswersInASupergroupHaveAThread(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Supergroup(-1009, "Work")
	first := s.SayAs(1, -1009, "one")
	second := s.SayAs(2, -1009, "two", telegram.ReplyingTo(first.Number))
	s.SayAs(1, -1009, "three", telegram.ReplyingTo(second.Number))
	contains(t, call(t, s, "getUpdates", "offset", "3"), fmt.Sprintf(`"message_thread_id":%d`, first.Number), `"text":"two"`)
}

func TestWhatChangesInAGroup(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Know(telegram.User{ID: 1, FirstName: "Ann"})
	s.Group(-5, "Old")
	s.AddBot(-5, 1, "member")
	s.Join(-5, 2)
	said := s.SayAs(2, -5, "first")
	s.Pin(-5, 1, said.Number)
	s.Edit(-5, said.Number, "changed")
	moved := s.Upgrade(-5, 1)
	s.RemoveBot(moved, 1)
	got := call(t, s, "getUpdates")
	contains(t, got, `"my_chat_member"`, `"new_chat_members":[{"can_connect`, `"pinned_message":{`, `"edited_message":{`, `"edit_date"`, `"text":"changed"`,
		fmt.Sprintf(`"migrate_to_chat_id":%d`, moved), `"migrate_from_chat_id":-5`, `"status":"kicked"`)
	contains(t, call(t, s, "sendMessage", "chat_id", "-5", "text", "x"), fmt.Sprintf(`"parameters":{"migrate_to_chat_id":%d}`, moved))
	contains(t, call(t, s, "sendMessage", "chat_id", strconv.FormatInt(moved, 10), "text", "x"), "Forbidden: bot was kicked from the supergroup chat")
}

func TestInPrivacyModeOnlySomeOfAGroupIsRead(t *testing.T) {
	t.Parallel()
	s, food := family(t, telegram.Options{Privacy: true})
	contains(t, call(t, s, "getMe"), `"can_read_all_group_messages":false`)
	s.SayAs(1, home, "not for it", telegram.InTopic(food))
	s.SayAs(1, home, "/stop")
	s.SayAs(1, home, "/stop@another_bot")
	s.SayAs(1, home, "@simulated_bot hello")
	contains(t, call(t, s, "sendMessage", "chat_id", strconv.Itoa(home), "text", "Yes?"), `"ok":true`)
	s.SayAs(1, home, "an answer", telegram.ReplyingTo(s.Bots(home)[0].Number))
	s.SayAs(1, 1, "in private")
	got := call(t, s, "getUpdates")
	contains(t, got, `"forum_topic_created"`, `"text":"/stop"`, "hello", "an answer", "in private")
	for _, unread := range []string{"not for it", "another_bot"} {
		if strings.Contains(got, unread) {
			t.Errorf("the bot reads %q", unread)
		}
	}
}

func TestFilesAreReadByTheirPath(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Photo(1, []byte("a picture"), telegram.Captioned("look @simulated_bot"))
	s.Voice(1, []byte("hello"))
	big := s.Send(1, telegram.Media{Kind: "document", Name: "big.zip", Size: 20<<20 + 1})
	s.Sticker(1, "\U0001F600")
	s.Album(1, []telegram.Media{{Kind: "photo", Content: []byte("one")}, {Kind: "document", Name: "a b.pdf", Content: []byte("two")}}, telegram.Captioned("both"))
	got := call(t, s, "getUpdates")
	contains(t, got, `"caption":"look @simulated_bot"`, `"caption_entities":[{"type":"mention"`, `"voice":{"duration":3`, `"mime_type":"audio/ogg"`,
		`"sticker":{"emoji"`, `"file_name":"a b.pdf"`, `"file_size":20971521`)
	if n := strings.Count(got, `"media_group_id"`); n != 2 || strings.Count(got, `"caption":"both"`) != 1 {
		t.Errorf("the album is %d messages in %s", n, got)
	}
	contains(t, call(t, s, "getFile", "file_id", big.Media.ID), "Bad Request: file is too big")
	contains(t, call(t, s, "getFile", "file_id", "other"), "Bad Request: wrong file_id")
	contains(t, call(t, s, "getFile", "file_id", s.Message(2).Media.ID), `"file_path":"voice/file_2.oga"`)
	read := func(token, path string) (int, string) {
		response, err := http.Get(s.URL() + "/file/bot" + token + "/" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	if code, body := read(telegram.Token, "voice/file_2.oga"); code != http.StatusOK || body != "hello" {
		t.Errorf("the file is answered with %d %q", code, body)
	}
	if code, _ := read("1:wrong", "voice/file_2.oga"); code != http.StatusUnauthorized {
		t.Errorf("a wrong token is answered with %d", code)
	}
	if code, _ := read(telegram.Token, "voice/none"); code != http.StatusNotFound {
		t.Errorf("a file that is not there is answered with %d", code)
	}
}

func TestAButtonIsPressed(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Say(1, "delete it")
	call(t, s, "sendMessage", "chat_id", "1", "text", "Sure?", "reply_markup", `{"inline_keyboard":[[{"text":"Yes","callback_data":"y1"},{"text":"No","callback_data":"n1"}]]}`)
	m := s.Bots(1)[0]
	query := s.Press(1, 1, m.Number, "y1")
	contains(t, call(t, s, "getUpdates", "offset", "2"), `"callback_query":{`, `"data":"y1"`, `"text":"Sure?"`, `"id":"`+query)
	contains(t, call(t, s, "answerCallbackQuery", "callback_query_id", query, "text", "Done"), `"result":true`)
	contains(t, call(t, s, "answerCallbackQuery", "callback_query_id", query), "query is too old")
	if got := s.Answered(query); !got.Done || got.Text != "Done" {
		t.Errorf("the answer is %+v", got)
	}
	contains(t, call(t, s, "editMessageReplyMarkup", "chat_id", "1", "message_id", strconv.Itoa(m.Number)), `"ok":true`)
	if s.Press(1, 1, m.Number, "y1") != "" {
		t.Error("a button that is gone was pressed")
	}
}

func TestOnlyUpdatesThatTheBotWantsAreMade(t *testing.T) {
	t.Parallel()
	s := start(t)
	said := s.Say(1, "one") // made before it was asked for less
	call(t, s, "getUpdates", "allowed_updates", `["edited_message"]`)
	s.Say(1, "two")
	s.Edit(1, said.Number, "three")
	got := call(t, s, "getUpdates", "timeout", "0")
	contains(t, got, `"one"`, `"three"`)
	if strings.Contains(got, "two") {
		t.Errorf("what was not wanted is in %s", got)
	}
	call(t, s, "getUpdates", "allowed_updates", `["mesage"]`)
	if !slices.Contains(s.Faults(), `getUpdates: there is no update of kind "mesage"`) {
		t.Errorf("faults = %q", s.Faults())
	}
	s.SetWebhook("https://example.org/hook")
	contains(t, call(t, s, "getUpdates"), "Conflict: can't use getUpdates method while webhook is active")
	contains(t, call(t, s, "getWebhookInfo"), `"url":"https://example.org/hook"`)
	contains(t, call(t, s, "deleteWebhook"), `"result":true`)
	contains(t, call(t, s, "getUpdates"), `"ok":true`)
}
