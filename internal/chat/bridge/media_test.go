package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// content reads a file that was kept.
func (h *house) content(t *testing.T, f File) string {
	t.Helper()
	data, err := os.ReadFile(h.path + "." + f.Kept)
	rig.Must(t, err)
	return string(data)
}

// A picture and a file come with their captions, and are kept before the message is accepted.
func TestFilesComeWithTheirMessage(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &house{}
	h.refuse = func(string) error { // called by Accept
		kept, err := os.ReadDir(strings.TrimSuffix(h.path, "/house"))
		rig.Check(t, err == nil && slices.ContainsFunc(kept, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "house.") }), "no file is kept yet")
		return nil
	}
	run(t, server, h)
	server.Photo(7, []byte("\xff\xd8\xffcat"), sim.Captioned("Which cat is it?"))
	server.Document(7, "bill.pdf", []byte("%PDF-1"))
	server.Document(7, "notes.txt", []byte("salt"), sim.Captioned("/status"))
	want(t, toldAnswers(t, server, 7, 3), "You said: Which cat is it?", "You said: (The message has no words, only 1 file.)", "You said: /status")
	all := h.all()
	for i, f := range []File{{Name: "photo.jpg", Type: "image/jpeg"}, {Name: "bill.pdf", Type: "application/pdf"}, {Name: "notes.txt", Type: "text/plain; charset=utf-8"}} {
		got := all[i].Files
		rig.Check(t, len(got) == 1 && got[0].Name == f.Name && got[0].Type == f.Type, "message %d has %+v", i, got)
		rig.Check(t, h.content(t, got[0]) == []string{"\xff\xd8\xffcat", "%PDF-1", "salt"}[i], "message %d has %q", i, h.content(t, got[0]))
	}
}

// An album is one message, in its place among the others, and accepted once however often the bridge is killed.
func TestAnAlbumIsOneMessage(t *testing.T) {
	t.Parallel()
	for _, dies := range []string{"", "before accept", "after accept", "before told"} {
		t.Run("killed "+dies, func(t *testing.T) {
			t.Parallel()
			server, file := simulator(t), t.TempDir()+"/house"
			server.Say(7, "before")
			server.Album(7, []sim.Media{{Kind: "photo", Content: []byte("one")}, {Kind: "photo", Content: []byte("two")}, {Kind: "photo", Content: []byte("three")}}, sim.Captioned("look"))
			server.Say(7, "after")
			if dies != "" {
				rig.Check(t, startBridge(t, server, file, dies).Wait() != nil, "the bridge was not killed")
			}
			h := &house{path: file}
			run(t, server, h)
			rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
			var got []string
			for _, l := range h.lines() {
				if l[0] == "accept" {
					got = append(got, l[3])
				}
			}
			rig.Check(t, slices.Equal(got, []string{"before", "look", "after"}), "accepted were %q", got)
			for n, content := range []string{"one", "two", "three"} {
				rig.Equal(t, h.content(t, File{Kept: "2." + strconv.Itoa(n)}), content, "file %d", n)
			}
		})
	}
}

// Claude hears of the parts of an album that it does not get.
func TestTheVideoOfAnAlbumIsNotHidden(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &house{}
	run(t, server, h)
	server.Album(7, []sim.Media{{Kind: "photo", Content: []byte("one")}, {Kind: "video", Content: []byte("two")}}, sim.Captioned("look"))
	told(t, server, 7, 1)
	all := h.all()
	rig.Check(t, len(all) == 1 && len(all[0].Files) == 1 && strings.Contains(all[0].Context, "It came with a video, which you do not get."), "%+v", all)
}

// In a group, an album is for the bot when its caption is.
func TestAnAlbumOfAGroupIsForTheBotAsAWhole(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &house{}
	run(t, server, h, inGroups(server), func(o *Options) { o.AllInGroups = false })
	pictures := func() []sim.Media {
		return []sim.Media{{Kind: "photo", Content: []byte("one")}, {Kind: "photo", Content: []byte("two")}}
	}
	server.Album(group, pictures(), sim.By(anna), sim.Captioned("our holiday"))
	server.Album(group, pictures(), sim.By(ben), sim.Captioned("@simulated_bot who is it?"))
	want(t, told(t, server, group, 1), "You said: who is it?")
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	rig.Check(t, len(h.all()) == 1 && len(h.all()[0].Files) == 2, "%+v", h.all())
}

// A text that the app split is one text. What another user writes meanwhile is not a part of it.
func TestATextThatWasSplitIsOneText(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &house{}
	run(t, server, h, inGroups(server), func(o *Options) { o.AllInGroups = false })
	begin, middle := "@simulated_bot "+strings.Repeat("word ", 816), strings.Repeat("y", mostSent)
	server.SayAs(anna, group, begin)
	server.SayAs(ben, group, "not for the bot")
	server.SayAs(anna, group, middle)
	server.SayAs(anna, group, "end")
	server.SayAs(anna, group, "a text of its own")
	text := strings.TrimPrefix(begin, "@simulated_bot ") + "\n" + middle + "end"
	rig.WaitFor(t, "the text is accepted", func() (bool, string) { return len(h.all()) > 0, "" })
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	all := h.all()
	rig.Check(t, len(all) == 1 && all[0].Text == text && len(all[0].Messages) == 3, "%d messages, the first has %d characters of %d", len(all), len(all[0].Text), len(text))
}

// A file that cannot be fetched for good is told; for another failure it is tried again.
func TestAFileThatCannotBeTakenIsTold(t *testing.T) {
	t.Parallel()
	const notPassedOn = " Your message was not passed on."
	for says, prepare := range map[string]func(*sim.Server){
		"I could not take the file: it has more than 20 MiB, which is all that a bot can fetch." + notPassedOn: func(server *sim.Server) {
			server.Send(7, sim.Media{Kind: "document", Name: "x", Content: []byte("x"), Size: (20 << 20) + 1})
		},
		"I could not take the picture: Telegram refused it: status 400: gone." + notPassedOn: func(server *sim.Server) {
			server.Fail(sim.Failure{Method: "getFile", Code: http.StatusBadRequest, Why: "gone"})
			server.SendPhoto(7)
		},
		"I could not take the file: fetch a file: status 404." + notPassedOn: func(server *sim.Server) {
			server.Fail(sim.Failure{Method: "file", Code: http.StatusNotFound, Times: 1000})
			server.Document(7, "x.pdf", []byte("%PDF"))
		},
		"I could not take the picture: status 500: Internal Server Error." + notPassedOn: func(server *sim.Server) {
			server.Fail(sim.Failure{Method: "getFile", Code: http.StatusInternalServerError, Times: 1000})
			server.SendPhoto(7)
		},
		"You said: kept": func(server *sim.Server) {
			for _, f := range []sim.Failure{{Method: "getFile"}, {Method: "getFile", Code: http.StatusTooManyRequests, RetryAfter: 1}, {Method: "file"}, {Method: "file", Code: http.StatusNotFound}, {Method: "file", Code: http.StatusBadGateway, HTML: true}} {
				server.Fail(f)
			}
			server.Photo(7, []byte("x"), sim.Captioned("kept"))
		},
		"I cannot read a location." + notPassedOn: func(server *sim.Server) {
			server.Service(7, 7, map[string]any{"location": map[string]any{"latitude": 1, "longitude": 2}})
		},
		"You said: look at this": func(server *sim.Server) {
			server.Send(7, sim.Media{Kind: "video", Content: []byte("x")}, sim.Captioned("look at this"))
		},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			server, h := simulator(t), &house{}
			run(t, server, h)
			prepare(server)
			server.Say(7, "next")
			want(t, toldAnswers(t, server, 7, 2), says, "You said: next")
			rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
			if first := h.all()[0]; first.Text == "look at this" {
				rig.Check(t, strings.Contains(first.Context, "It came with a video, which you do not get."), "%q", first.Context)
			}
		})
	}
}

// A program turns a voice message into text, and the chat sees what it heard; without one the chat is told.
func TestVoiceMessages(t *testing.T) {
	t.Parallel()
	for says, transcribe := range map[string]func(string) (string, error){
		"I cannot listen to the voice message; please write it. (For the owner: nbs-worker serve setup telegram --transcribe-cmd PROGRAM) Your message was not passed on.": nil,
		"I could not take the voice message: no words were understood. Your message was not passed on.":                                                                    func(string) (string, error) { return " \n", nil },
		"I could not take the voice message: it is broken. Your message was not passed on.":                                                                                func(string) (string, error) { return "", errors.New("it is broken") },
		`I heard: "buy salt"`: func(recording string) (string, error) { return "buy " + recording, nil },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			server, h := simulator(t), &house{}
			run(t, server, h, func(o *Options) {
				if transcribe != nil {
					o.Transcribe = func(_ context.Context, path string) (string, error) {
						data, err := os.ReadFile(path)
						rig.Must(t, err)
						return transcribe(string(data))
					}
				}
			})
			server.Voice(7, []byte("salt"))
			sent := told(t, server, 7, 1)
			rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
			rig.Check(t, slices.Contains(sent, says) || slices.Contains(told(t, server, 7, 2), says), "the chat was told %q", sent)
			heard := strings.HasPrefix(says, "I heard")
			rig.Check(t, len(h.all()) == 1 == heard, "%+v", h.all())
			if all := h.all(); heard {
				rig.Check(t, all[0].Text == "buy salt" && len(all[0].Files) == 0 && strings.Contains(all[0].Context, "a program wrote it down"), "%+v", all)
			}
		})
	}
}

// In a group, an edit of a message for the bot need not name it again.
func TestAnEditInAGroupNeedNotNameTheBot(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &house{}
	run(t, server, h, inGroups(server), func(o *Options) { o.AllInGroups = false })
	m := server.SayAs(anna, group, "@"+sim.Name+" delete a")
	told(t, server, group, 1)
	server.Edit(group, m.Number, "delete b")
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	rig.Check(t, len(h.edits) == 1, "%q", h.edits)
}

// An edit replaces a text that waits. One that comes too late is told, and so is what cannot be replaced.
func TestEdits(t *testing.T) {
	t.Parallel()
	const late = "The edit came too late: Claude has the message as it was. Write the change as a new message."
	for _, test := range []struct {
		edit Edit
		said []string
	}{{EditTaken, nil}, {EditIgnored, nil}, {EditLate, []string{late}}} {
		server, h := simulator(t), &house{edit: test.edit}
		run(t, server, h)
		m := server.Say(7, "/new")
		told(t, server, 7, 1)
		server.Edit(7, m.Number, "/new now")
		soup := server.Say(7, "soup").Number
		server.Edit(7, soup, "stew")
		salt := server.Photo(7, []byte("x"), sim.Captioned("salt")).Number
		server.Edit(7, salt, "pepper")
		rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
		sent := toldAnswers(t, server, 7, 3+2*len(test.said))
		rig.Equal(t, strings.Join(h.edits, "|"), fmt.Sprintf("%d: stew (false)|%d: pepper (true)", soup, salt), "edits")
		for _, text := range test.said {
			rig.Check(t, slices.Contains(sent, text), "the chat was told %q", sent)
		}
		voice := server.Voice(7, []byte("x"), sim.Captioned("a")).Number
		server.Edit(7, voice, "b")
		sent = toldAnswers(t, server, 7, 5+2*len(test.said))
		rig.Check(t, slices.Contains(sent, "I cannot change the words of a voice message. Write the change as a new message."), "%q", sent)
	}
}
