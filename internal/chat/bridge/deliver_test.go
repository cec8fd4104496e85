package bridge_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// answering returns a house whose every answer is a text.
func answering(text string) *house {
	return &house{reply: func(context.Context, string, Answer) (Answer, error) { return Answer{Text: text}, nil }}
}

func TestAnAnswerIsFormatted(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	run(t, server, answering("# Result\nIt is **good**: `go test`, see [here](https://example.com)."))
	server.Say(7, "one")
	told(t, server, 7, 1)
	m := server.Bots(7)[0]
	rig.Same(t, "text", "Result\n\nIt is good: go test, see here.", m.Text)
	rig.Same(t, "entities", []sim.Entity{
		{Type: "bold", Offset: 0, Length: 6}, {Type: "bold", Offset: 14, Length: 4}, {Type: "code", Offset: 20, Length: 7},
		{Type: "text_link", Offset: 33, Length: 4, URL: "https://example.com"},
	}, m.Entities)
	rig.Check(t, len(server.Faults()) == 0, "%q", server.Faults())
}

// The words of the bridge, and what a person has it tell, are no Markdown.
func TestOnlyWhatClaudeSaidIsMarkdown(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{reply: func(context.Context, string, Answer) (Answer, error) {
		return Answer{Class: "server_error", Error: "**a** b"}, nil
	}}
	b, _ := run(t, server, h)
	rig.Must(t, b.Tell(t.Context(), "telegram:7", "2 *3* 4"))
	rig.Must(t, b.Relay(t.Context(), "telegram:7", "2 *3* 4"))
	server.Say(7, "one")
	want(t, told(t, server, 7, 3), "2 *3* 4", "2 3 4", "Claude's API has a fault (**a** b). Your message was not answered: send it again.")
}

func TestAFormatThatTelegramRefusesIsLeftOut(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Fail(sim.Failure{Method: "sendMessage", Code: http.StatusBadRequest, Why: "Bad Request: can't parse entities: something"})
	_, log := run(t, server, answering("It is **good**."))
	server.Say(7, "one")
	want(t, told(t, server, 7, 1), "It is good.")
	rig.Check(t, server.Bots(7)[0].Entities == nil, "it has entities")
	rig.WaitFor(t, "it is logged", func() (bool, string) { return strings.Contains(log.text(), "refused the formatting"), log.text() })
}

func TestAVeryLongAnswerIsToldAsAFileToo(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("word ", 500) + "**end**\n\n"
	for _, times := range []int{9, 40} { // the second one is not even parsed whole
		server := simulator(t)
		whole := strings.Repeat(paragraph, times)
		h := answering(whole)
		run(t, server, h)
		server.Say(7, "one")
		told(t, server, 7, 3)
		sent := server.Bots(7)
		rig.Check(t, len(sent) == 3 && strings.HasPrefix(sent[0].Text, "word") && strings.HasPrefix(sent[1].Text, "word") && sent[2].Text == "The whole answer.", "sent %.30q", server.Sent(7))
		rig.Check(t, sent[2].Media != nil && sent[2].Media.Name == "answer.md" && string(sent[2].Media.Content) == whole, "the file is another")
	}
}

func TestAFileThatTelegramRefusesIsToldAsMessages(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Fail(sim.Failure{Method: "sendDocument", Code: http.StatusRequestEntityTooLarge})
	server.Fail(sim.Failure{Method: "sendDocument", Code: http.StatusBadRequest})
	run(t, server, answering(strings.Repeat(strings.Repeat("word ", 700)+"\n\n", 7)))
	server.Say(7, "one")
	told(t, server, 7, 7)
	rig.Check(t, !slices.ContainsFunc(server.Bots(7), func(m sim.Message) bool { return m.Media != nil }), "a file was sent")
}

// A bridge that takes up an answer goes on where the other stopped, and only the message in doubt says so.
func TestALongAnswerGoesOnWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := answering(strings.Repeat("a ", 1900) + "\n\n" + strings.Repeat("b ", 1900) + "\n\n" + strings.Repeat("c ", 1900))
	h.path = t.TempDir() + "/house"
	for _, line := range [][2]string{{"accept", "telegram:7 one"}, {"shown", "none 1 none"}, {"telling", ""}} {
		rig.Must(t, h.write(line[0], "telegram:1", line[1]))
	}
	run(t, server, h)
	sent := told(t, server, 7, 2)
	rig.Check(t, strings.HasPrefix(sent[0], PerhapsAgain+"b b") && strings.HasPrefix(sent[1], "c c"), "sent %.80q", sent)
}

// A file that is too large for Telegram, or for the connection, is told, and does not keep what is behind it.
func TestAFileThatCannotBeSentIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		failure *sim.Failure
		want    string
	}{
		"too large":               {&sim.Failure{Method: "sendDocument", Code: http.StatusRequestEntityTooLarge, Times: 1000}, "/file did not work: Telegram refused a message: status 413: Request Entity Too Large."},
		"too large for a gateway": {&sim.Failure{Method: "sendDocument", Code: http.StatusRequestEntityTooLarge, Times: 1000, HTML: true}, "/file did not work: Telegram refused a message: status 413: Request Entity Too Large."},
		"too slow":                {nil, "/file did not work: it took too long to send."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, h := simulator(t), &house{folder: t.TempDir()}
			rig.Must(t, os.WriteFile(filepath.Join(h.folder, "report.pdf"), []byte("%PDF"), 0o600))
			if test.failure != nil {
				server.Fail(*test.failure)
			} else {
				t.Cleanup(server.Hold("sendDocument"))
			}
			run(t, server, h, func(o *Options) {
				if test.failure == nil {
					o.Upload = 50 * time.Millisecond
				}
			})
			server.Say(7, "/file report.pdf")
			server.Say(7, "next")
			want(t, told(t, server, 7, 2), test.want, "You said: next")
			rig.Equal(t, server.Calls("sendDocument"), 1, "uploads")
		})
	}
}

func TestAUserGetsAFile(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{folder: t.TempDir()}
	for name, text := range map[string]string{"report.pdf": "%PDF", "empty": "", "token": "x " + sim.Token} {
		rig.Must(t, os.WriteFile(filepath.Join(h.folder, name), []byte(text), 0o600))
	}
	rig.Must(t, os.Truncate(filepath.Join(h.folder, "token"), 100))
	rig.Must(t, os.WriteFile(filepath.Join(h.folder, "large"), nil, 0o600))
	rig.Must(t, os.Truncate(filepath.Join(h.folder, "large"), 50_000_001))
	server.Supergroup(-9, "Home")
	run(t, server, h, func(o *Options) { o.Allowed = append(o.Allowed, -9) })
	for n, test := range []struct{ says, want string }{
		{"/file", "Write: /file PATH"},
		{"/file none", "/file did not work: there is no file none in the project."},
		{"/file empty", `/file did not work: "empty" is empty, and Telegram takes no empty file.`},
		{"/file large", `/file did not work: "large" is larger than 50 MB, and Telegram takes no larger file.`},
		{"/file token", `/file did not work: "token" has the bot's token.`},
		{"/file report.pdf", ""},
	} {
		server.Say(7, test.says)
		sent := told(t, server, 7, n+1)
		rig.Equal(t, sent[n], test.want, "%s", test.says)
	}
	got := server.Bots(7)[5].Media
	rig.Check(t, got != nil && got.Name == "report.pdf" && string(got.Content) == "%PDF", "%+v", got)
	server.SayIn(-9, 1, "/file report.pdf")
	want(t, told(t, server, -9, 1), "/file is off in groups. The owner of the bot can switch it on: nbs-worker serve setup telegram --agents all")
}

func TestFilesThatAnAnswerNamesAreOffered(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	run(t, server, &house{reply: func(context.Context, string, Answer) (Answer, error) {
		return Answer{Text: "Done.", Files: []string{"out/a.pdf", "b.csv"}}, nil
	}})
	server.Say(7, "one")
	want(t, told(t, server, 7, 1), "Done.\n\n/file out/a.pdf\n/file b.csv")
	rig.Same(t, "entities", []sim.Entity{{Type: "code", Offset: 7, Length: 15}, {Type: "code", Offset: 23, Length: 11}}, server.Bots(7)[0].Entities)
}

// An answer of markup alone is told as it is: without a message the user would wait for it.
func TestAnAnswerOfMarkupAloneIsTold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"#", "```", ">", "[]()"} {
		server := simulator(t)
		run(t, server, answering(text))
		server.Say(7, "one")
		want(t, told(t, server, 7, 1), text)
	}
}
