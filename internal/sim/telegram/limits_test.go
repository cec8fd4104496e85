package telegram_test

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/telegram"
)

// upload calls a method with a file, as a form of several parts.
func upload(t *testing.T, s *telegram.Server, method, name string, data []byte, params ...string) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(params); i += 2 {
		if err := form.WriteField(params[i], params[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile(strings.ToLower(strings.TrimPrefix(method, "send")), name)
	if err == nil {
		_, err = part.Write(data)
	}
	if err != nil || form.Close() != nil {
		t.Fatal(err)
	}
	response, err := http.Post(s.URL()+"/bot"+telegram.Token+"/"+method, form.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	return content(t, response)
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUploads(t *testing.T) {
	t.Parallel()
	s := start(t)
	contains(t, upload(t, s, "sendDocument", "answer.md", []byte("# Long"), "chat_id", "7", "caption", "*All*", "parse_mode", "MarkdownV2"),
		`"document":{"file_id"`, `"file_name":"answer.md"`, `"caption":"All"`, `"caption_entities":[{"type":"bold","offset":0,"length":3}]`)
	contains(t, upload(t, s, "sendPhoto", "x.png", picture(t, 40, 30), "chat_id", "7"), `"photo":[{`)
	held := s.Bots(7)[0].Media.ID
	contains(t, call(t, s, "sendDocument", "chat_id", "7", "document", held), `"ok":true`)
	for _, test := range []struct{ got, want string }{
		{upload(t, s, "sendDocument", "none", nil, "chat_id", "7"), "Bad Request: file must be non-empty"},
		{call(t, s, "sendDocument", "chat_id", "7"), "Bad Request: there is no document in the request"},
		{upload(t, s, "sendPhoto", "x.txt", []byte("text"), "chat_id", "7"), "Bad Request: IMAGE_PROCESS_FAILED"},
		{upload(t, s, "sendPhoto", "x.png", picture(t, 2100, 100), "chat_id", "7"), "Bad Request: PHOTO_INVALID_DIMENSIONS"},
		{upload(t, s, "sendDocument", "x", []byte("x"), "chat_id", "7", "caption", strings.Repeat("x", 1025)), "Bad Request: message caption is too long"},
		{upload(t, s, "sendDocument", "x", make([]byte, 50<<20+1), "chat_id", "7"), "Request Entity Too Large"},
	} {
		contains(t, test.got, test.want)
	}
	if faults := s.Faults(); len(faults) > 0 {
		t.Errorf("faults = %q", faults)
	}
}

func TestLimitsOfAMessage(t *testing.T) {
	t.Parallel()
	s, food := family(t, telegram.Options{})
	to := strconv.Itoa(home)
	button := func(data string) string {
		return `{"inline_keyboard":[[{"text":"Yes","callback_data":"` + data + `"}]]}`
	}
	for _, test := range []struct {
		want   string
		params []string
	}{
		{`"message_thread_id":` + strconv.Itoa(food), []string{"text", "x", "message_thread_id", strconv.Itoa(food)}},
		{"Bad Request: message thread not found", []string{"text", "x", "message_thread_id", "99"}},
		{"Bad Request: message thread not found", []string{"text", "x", "message_thread_id", "1"}},
		{"Bad Request: message to be replied not found", []string{"text", "x", "reply_parameters", `{"message_id":99}`}},
		{`"ok":true`, []string{"text", "x", "reply_parameters", `{"message_id":99,"allow_sending_without_reply":true}`}},
		{`"ok":true`, []string{"text", "x", "reply_markup", button(strings.Repeat("d", 64))}},
		{"Bad Request: BUTTON_DATA_INVALID", []string{"text", "x", "reply_markup", button(strings.Repeat("d", 65))}},
		{"Text buttons are unallowed", []string{"text", "x", "reply_markup", button("")}},
		{"Bad Request: unsupported parse_mode", []string{"text", "x", "parse_mode", "Markdown3"}},
		{`"ok":true`, []string{"text", "<b>" + strings.Repeat("x", 4096) + "</b>", "parse_mode", "HTML"}},
		{"entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 4", []string{"text", "\U0001F600x", "entities", `[{"type":"bold","offset":0,"length":1}]`}},
		{"entity begins in a middle of a UTF-16 symbol at byte offset 4", []string{"text", "\U0001F600x", "entities", `[{"type":"bold","offset":1,"length":1}]`}},
		{"entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 4", []string{"text", "\U0001F600x", "entities", `[{"type":"bold","offset":1,"length":3}]`}},
		{`"entities":[{"type":"bold","offset":0,"length":3}]`, []string{"text", "\U0001F600x", "entities", `[{"type":"bold","offset":0,"length":3}]`}},
	} {
		contains(t, call(t, s, "sendMessage", append([]string{"chat_id", to}, test.params...)...), test.want)
	}
	s.CloseTopic(home, 1, food, true)
	contains(t, call(t, s, "sendMessage", "chat_id", to, "text", "x", "message_thread_id", strconv.Itoa(food)), "TOPIC_CLOSED")
	s.DeleteTopic(home, food)
	contains(t, call(t, s, "sendMessage", "chat_id", to, "text", "x", "message_thread_id", strconv.Itoa(food)), "message thread not found")
	contains(t, call(t, s, "sendChatAction", "chat_id", to, "action", "typing", "message_thread_id", "1"), `"result":true`) // not so with sendMessage
	contains(t, call(t, s, "sendChatAction", "chat_id", to, "action", "thinking"), "wrong parameter action")
	contains(t, call(t, s, "sendMessage", "chat_id", "-44", "text", "x"), "Bad Request: chat not found")
}

func TestEditsAndDeletions(t *testing.T) {
	t.Parallel()
	s := start(t)
	said := s.Say(7, "hello")
	call(t, s, "sendMessage", "chat_id", "7", "text", "*one*", "parse_mode", "Markdown")
	m := s.Bots(7)[0]
	edit := func(params ...string) string {
		return call(t, s, "editMessageText", append([]string{"chat_id", "7", "message_id", strconv.Itoa(m.Number)}, params...)...)
	}
	contains(t, edit("text", "**one**", "parse_mode", "Markdown"), `"text":"one"`) // bold is gone
	contains(t, edit("text", " one "), "Bad Request: message is not modified")
	contains(t, edit("text", "two"), `"edit_date"`)
	contains(t, edit("text", ""), "message text is empty")
	contains(t, call(t, s, "editMessageText", "chat_id", "7", "message_id", "99", "text", "x"), "Bad Request: message to edit not found")
	contains(t, call(t, s, "editMessageText", "chat_id", "7", "message_id", strconv.Itoa(said.Number), "text", "x"), "Bad Request: message can't be edited")
	contains(t, call(t, s, "setMessageReaction", "chat_id", "7", "message_id", strconv.Itoa(said.Number), "reaction", `[{"type":"emoji","emoji":"👀"}]`), `"result":true`)
	contains(t, call(t, s, "setMessageReaction", "chat_id", "7", "message_id", strconv.Itoa(said.Number), "reaction", `[{"type":"emoji","emoji":"⏳"}]`), "REACTION_INVALID")
	if got := s.Message(m.Number); !slices.Equal(got.Before, []string{"one", "one"}) || s.Message(said.Number).Reaction != "👀" {
		t.Errorf("it is kept as %+v", got)
	}
	contains(t, call(t, s, "deleteMessage", "chat_id", "7", "message_id", strconv.Itoa(m.Number)), `"result":true`)
	contains(t, call(t, s, "deleteMessage", "chat_id", "7", "message_id", strconv.Itoa(m.Number)), "Bad Request: message to delete not found")
	contains(t, edit("text", "three"), "Bad Request: message to edit not found")
	if sent := s.Sent(7); len(sent) > 0 || !s.Message(m.Number).Deleted {
		t.Errorf("the chat shows %q", sent)
	}
}

func TestTheMenu(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := func(commands string) string { return call(t, s, "setMyCommands", "commands", commands) }
	contains(t, set(`[{"command":"stop","description":"end the turn"}]`), `"result":true`)
	contains(t, call(t, s, "getMyCommands"), `[{"command":"stop","description":"end the turn"}]`)
	contains(t, set(`[{"command":"Stop","description":"x"}]`), "BOT_COMMAND_INVALID")
	contains(t, set(`[{"command":"`+strings.Repeat("a", 33)+`","description":"x"}]`), "BOT_COMMAND_INVALID")
	contains(t, set(`[{"command":"stop","description":""}]`), "BOT_COMMAND_DESCRIPTION_INVALID")
	many := strings.Repeat(`{"command":"a","description":"x"},`, 101)
	contains(t, set("["+strings.TrimSuffix(many, ",")+"]"), "BOT_COMMANDS_TOO_MUCH")
	if got := s.Commands("default"); len(got) != 1 || got[0].Command != "stop" {
		t.Errorf("the menu is %+v", got)
	}
}

func TestAWrongRequestIsNoted(t *testing.T) {
	t.Parallel()
	s := start(t)
	call(t, s, "sendMessage", "chat_id", "7", "text", "x", "reply_to_message_id", "1")
	call(t, s, "sendPoll", "chat_id", "7")
	call(t, s, "sendMessage", "chat_id", "7", "text", "x", "reply_parameters", `{"message":1,"allow_sending_without_reply":true}`)
	call(t, s, "sendMessage", "chat_id", "7", "text", strings.Repeat("<b>x</b> ", 101), "parse_mode", "HTML")
	want := []string{
		`sendMessage: there is no parameter "reply_to_message_id"`, "sendPoll: there is no such method here", `ReplyParameters has no field "message"`,
		"a message has 101 entities: only 100 are kept",
	}
	if got := s.Faults(); !slices.Equal(got, want) {
		t.Errorf("faults = %q", got)
	}
}

func TestChatsAndMembers(t *testing.T) {
	t.Parallel()
	s, _ := family(t, telegram.Options{})
	contains(t, call(t, s, "getChat", "chat_id", strconv.Itoa(home)), `"title":"Home"`, `"is_forum":true`, `"type":"supergroup"`)
	contains(t, call(t, s, "getChat", "chat_id", "1"), `"username":"ann_of_home"`)
	contains(t, call(t, s, "getChat", "chat_id", "-9"), "chat not found")
	contains(t, call(t, s, "getChatMember", "chat_id", strconv.Itoa(home), "user_id", "1000"), `"status":"member"`, `"is_bot":true`)
	contains(t, call(t, s, "getChatMember", "chat_id", strconv.Itoa(home), "user_id", "77"), "PARTICIPANT_ID_INVALID")
}

func TestTheRateIsLimited(t *testing.T) {
	t.Parallel()
	s, _ := family(t, telegram.Options{Rates: true, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	send := func(chat string) string { return call(t, s, "sendMessage", "chat_id", chat, "text", "x") }
	for range 5 {
		contains(t, send("7"), `"ok":true`) // a short burst
	}
	contains(t, send("7"), "Too Many Requests: retry after 1", `"parameters":{"retry_after":1}`)
	contains(t, send("7"), `"error_code":429`)
	if s.Hasty() != 1 {
		t.Errorf("hasty = %d", s.Hasty())
	}
	for chat := 100; chat < 125; chat++ {
		contains(t, send(strconv.Itoa(chat)), `"ok":true`)
	}
	contains(t, send("200"), `"error_code":429`) // 30 in all
	s.LimitRates(false)
	contains(t, send("7"), `"ok":true`)
}
