package chat

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/e2e/told"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/sim/telegram"
)

// family is the chats of a family with its bot: those of three people, and a group with two topics.
type family struct {
	*team

	bot       *telegram.Server
	server    *e2e.Running
	setClock  func(time.Time)
	transcode string // the program that writes down what is said

	people      []told.Place // who writes in the mornings
	food, trips told.Place
	said        []told.Said
}

const (
	annsChat, bensChat, cleosChat = 1, 2, 3
	home                          = -1001000000001
)

var (
	ann, ben, cleo = told.Place{Chat: annsChat}, told.Place{Chat: bensChat}, told.Place{Chat: cleosChat}
	members        = []told.Place{ann, ben, cleo}
)

func newFamily(m *team) *family {
	m.Helper()
	m.Chats()
	f := &family{team: m, setClock: m.byClock("Europe/Berlin"), people: members}
	bot, err := telegram.Start(telegram.Options{})
	m.Must(err)
	m.Cleanup(func() { _ = bot.Close() })
	for i, name := range []string{"Ann", "Ben", "Cleo"} {
		bot.Know(telegram.User{ID: int64(i + 1), FirstName: name})
	}
	bot.Forum(home, "Home")
	f.bot = bot
	f.food = told.Place{Chat: home, Topic: bot.Topic(home, annsChat, "Food")}
	f.trips = told.Place{Chat: home, Topic: bot.Topic(home, annsChat, "Trips")}
	m.Must(os.WriteFile(filepath.Join(m.World.RunDir, "token"), []byte(telegram.Token+"\n"), 0o600))
	f.transcode = m.Program("hear", "cat \"$1\"")
	return f
}

// serves starts the server at a time of the family's clock.
func (f *family) serves(at time.Time) {
	f.Helper()
	f.setClock(at)
	calls := f.bot.Calls("getMe")
	args := []string{"serve", "--telegram-token-file", filepath.Join(f.World.RunDir, "token"), "--telegram-url", f.bot.URL(), "--transcribe-cmd", f.transcode}
	for _, chat := range []int64{annsChat, bensChat, cleosChat, home} {
		args = append(args, "--telegram-chat", strconv.FormatInt(chat, 10))
	}
	f.server = f.Begin(args...)
	server := f.server
	f.Cleanup(func() {
		if server.ProcessState == nil {
			_ = server.Process.Kill()
			_ = server.Wait()
		}
	})
	f.Must(f.bot.AwaitCalls(rig.Patient(f), "getMe", calls+1))
}

// crash kills the server.
func (f *family) crash() {
	f.Helper()
	f.Must(f.server.Process.Kill())
	f.server.End()
}

// allTold waits until all is told, and that is noted.
func (f *family) allTold() {
	f.Helper()
	f.WaitFor("all is told", func() (bool, string) {
		findings, _ := told.Judge(f.said, f.shown())
		return len(findings) == 0, strings.Join(findings, "\n") + "\n" + f.server.Err.String()
	})
	f.WaitFor("it is noted that all was told", func() (bool, string) {
		for _, note := range f.notes() {
			if !strings.Contains(note, `"over"`) && !strings.Contains(note, `"joined"`) {
				return false, note
			}
		}
		return true, ""
	})
}

// settled waits until all is told, and ends the server.
func (f *family) settled() {
	f.Helper()
	f.allTold()
	f.Must(f.server.Process.Signal(syscall.SIGINT))
	if r := f.server.End(); r.Code != 130 && r.Code != 0 {
		f.Errorf("the server: %s", r)
	}
}

func (f *family) notes() (notes []string) {
	paths, err := filepath.Glob(filepath.Join(f.World.Project, ".nbs/deliveries/*.json"))
	f.Must(err)
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil { // it may be replaced just now
			notes = append(notes, string(text))
		}
	}
	return notes
}

func (f *family) shown() (all []telegram.Message) {
	for _, chat := range []int64{annsChat, bensChat, cleosChat, home} {
		all = append(all, f.bot.Chat(chat)...)
	}
	return all
}

// wants notes what the bot is to answer to a message.
func (f *family) wants(m telegram.Message, answer string) {
	f.said = append(f.said, told.Said{Place: told.Place{Chat: m.Chat, Topic: m.Topic}, Number: m.Number, Text: m.Text, Wants: []string{answer}})
}

// writes has someone write a text, which is answered as usual. In the group it names the bot.
func (f *family) writes(at told.Place, text string) telegram.Message {
	answer := "You said: " + text
	if number, is := strings.CutPrefix(text, "Remember "); is {
		answer = "OK, I will remember " + number
	}
	return f.asks(at, text, answer)
}

func (f *family) asks(at told.Place, text, answer string) telegram.Message {
	by := max(at.Chat, annsChat)
	if at.Chat == home {
		text = "@" + telegram.Name + " " + text
	}
	m := f.bot.SayAs(by, at.Chat, text, telegram.InTopic(at.Topic))
	f.wants(m, answer)
	return m
}

// due notes that a schedule runs within the next moments, and tells a place: a server that is killed leaves that to the
// next one, which says when it was due.
func (f *family) due(at told.Place, when, prompt string) {
	f.Helper()
	answer := "You said: " + prompt
	zone, err := time.LoadLocation("Europe/Berlin")
	f.Must(err)
	due, err := time.Parse(time.RFC3339, when)
	f.Must(err)
	late := due.In(zone).Format("This was due at 15:04 on 2 January.") + "\n\n" + answer
	f.said = append(f.said, told.Said{
		Place: at, Text: prompt, Wants: []string{answer, late}, Aside: true, From: time.Now(), Until: time.Now().Add(rig.Scaled(time.Minute)),
	})
}

// working waits until the API is asked for an answer.
func (f *family) working(text string) {
	f.Helper()
	f.WaitFor("the API is asked "+text, func() (bool, string) {
		return slices.ContainsFunc(f.API.Requests(), func(r api.Request) bool { return r.Last() == text }), ""
	})
}

// The schedules of the family: the group hears of each night, and Ann of each morning.
const (
	night     = "[[delay 300ms]] What was done in the night?"
	morning   = "What is on today?"
	timetable = `zone: Europe/Berlin
schedules:
  night: {cron: "30 2 * * *", prompt: "` + night + `", deliver_to: "telegram:%d/%d"}
  morning: {cron: "30 7 * * *", prompt: "` + morning + `", deliver_to: "telegram:%d"}
`
)

// week is when the schedules are due, in UTC. On the Sunday, clocks go from 02:00 to 03:00: the night's time is skipped
// and becomes the moment after the gap.
var week = [7]struct{ night, morning string }{
	{"2026-03-26T01:30:00Z", "2026-03-26T06:30:00Z"},
	{"2026-03-27T01:30:00Z", "2026-03-27T06:30:00Z"},
	{"2026-03-28T01:30:00Z", "2026-03-28T06:30:00Z"},
	{"2026-03-29T01:00:00Z", "2026-03-29T05:30:00Z"},
	{"2026-03-30T00:30:00Z", "2026-03-30T05:30:00Z"},
	{"2026-03-31T00:30:00Z", "2026-03-31T05:30:00Z"},
	{"2026-04-01T00:30:00Z", "2026-04-01T05:30:00Z"},
}

// sunday is the day of the daylight saving change.
const sunday = 3

// before is the moment before a time.
func (f *family) before(at string) time.Time {
	f.Helper()
	due, err := time.Parse(time.RFC3339, at)
	f.Must(err)
	return due.Add(-100 * time.Millisecond)
}

// A week of a family. Server and clock are started again for each night and each morning, so that a week takes seconds;
// three times the server is killed at what it does. All that was said is answered once, in its place and in order.
func TestAWeekOfAFamily(t *testing.T) {
	f := newFamily(standIn(t))
	f.live(0, 1, 2, 3, 4, 5, 6)
}

// A day of the family with the real Claude: that on which clocks change, and the server is killed at a schedule.
func TestADayOfAFamily(t *testing.T) {
	f := newFamily(eachVersion(t))
	f.people, f.trips = members[:1], f.food // each conversation starts a claude for each server
	f.live(sunday)
}

// live has days of the week pass.
func (f *family) live(days ...int) {
	f.Helper()
	f.allowsSchedules(fmt.Sprintf(timetable, f.food.Chat, f.food.Topic, annsChat))
	begun := time.Now()
	f.serves(f.before(week[days[0]].night).Add(-time.Hour))
	for i, at := range f.places() {
		f.writes(at, fmt.Sprintf("Remember 420%d.", i))
	}
	f.settled()
	for _, day := range days {
		due := week[day]
		f.serves(f.before(due.night))
		f.due(f.food, due.night, night)
		if day == sunday {
			f.working(night)
			f.crash()
			f.serves(f.before(due.night).Add(time.Minute))
		}
		f.settled()
		f.serves(f.before(due.morning))
		f.due(ann, due.morning, morning)
		f.lives(day)
		f.settled()
	}
	findings, twice := told.Judge(f.said, f.shown())
	f.Check(len(findings) == 0 && (twice > 0 || len(days) == 1), "%d twice, %q", twice, findings)
	f.Check(len(f.bot.Faults()) == 0, "%q", f.bot.Faults())
	f.ranByTheClock(days)
	f.Logf("%d messages of users and schedules in %s; %d stand there twice and say so", len(f.said), time.Since(begun).Round(time.Millisecond), twice)
}

func (f *family) places() []told.Place {
	return slices.Compact(append(slices.Clone(f.people), f.food, f.trips))
}

// lives is what happens on a day.
func (f *family) lives(day int) {
	f.Helper()
	mark := func(what string) string { return fmt.Sprintf("%s <<%d>>", what, day) }
	for _, at := range f.people {
		f.writes(at, mark("Good morning"))
	}
	switch day {
	case 0:
		f.saysInTheGroup(mark)
	case 1:
		f.sendsFiles(mark)
	case 2:
		f.crashesBeforeAnswer(mark)
	case sunday:
		f.saysInTheGroup(mark)
	case 4:
		f.crashesWithinAnswer(mark)
	case 5:
		f.loginExpires(mark)
	case 6:
		f.stops(mark)
		for i, at := range f.places() {
			f.asks(at, "What number?", fmt.Sprintf("420%d", i))
		}
	}
}

// saysInTheGroup has the members talk in both topics, also to each other: that is not the bot's.
func (f *family) saysInTheGroup(mark func(string) string) {
	f.bot.SayAs(bensChat, home, mark("Dinner at seven?"), telegram.InTopic(f.food.Topic))
	f.writes(f.food, mark("Buy salt"))
	f.writes(f.trips, mark("Book the train"))
	f.writes(f.food, mark("And oil"))
	f.bot.SayAs(cleosChat, home, mark("Yes"), telegram.InTopic(f.food.Topic))
}

// sendsFiles has pictures and a voice message sent, among texts.
func (f *family) sendsFiles(mark func(string) string) {
	f.Helper()
	p := &phone{team: f.team}
	f.wants(f.bot.Photo(annsChat, p.picture(40, 30), telegram.Captioned(mark("What is it?"))), "You said: "+mark("What is it?"))
	f.writes(ann, mark("And the colour?"))
	album := f.bot.Album(bensChat, []telegram.Media{{Kind: "photo", Content: p.picture(41, 31)}, {Kind: "photo", Content: p.picture(42, 32)}}, telegram.Captioned(mark("And these?")))
	f.wants(album[0], "You said: "+mark("And these?"))
	f.wants(f.bot.Voice(cleosChat, []byte(mark("Call grandmother"))), "You said: "+mark("Call grandmother"))
	f.writes(cleo, mark("Today"))
}

// crashesBeforeAnswer kills the server when messages were accepted, and before one is answered. More is said while no
// server runs.
func (f *family) crashesBeforeAnswer(mark func(string) string) {
	f.Helper()
	f.asks(cleo, mark("[[delay 1s]] Think about it"), "You said: "+mark("[[delay 1s]] Think about it"))
	f.writes(cleo, mark("And about that"))
	f.working(mark("[[delay 1s]] Think about it"))
	f.WaitFor("the third morning has begun", func() (bool, string) { // the next server takes it for missed if this one has not seen it
		mornings := slices.DeleteFunc(f.API.Requests(), func(r api.Request) bool { return r.Last() != morning })
		return len(mornings) >= 3, fmt.Sprint(len(mornings), " mornings")
	})
	f.crash()
	f.writes(cleo, mark("Are you there?"))
	f.writes(ben, mark("Hello?"))
	f.serves(f.before(week[2].morning).Add(time.Hour))
}

// crashesWithinAnswer kills the server when a part of a long answer was told, and the next arrives without its knowing.
func (f *family) crashesWithinAnswer(mark func(string) string) {
	f.Helper()
	const length = 12000
	text := mark(fmt.Sprintf("[[long %d]] Tell me all", length))
	answer := "You said: " + text
	for line := 1; len(answer) < length; line++ {
		answer += fmt.Sprintf("\n\n%d of: %s", line, text)
	}
	f.allTold()
	before, calls, release := len(f.bot.Bots(annsChat)), f.bot.Calls("sendMessage"), f.bot.Hold("sendMessage")
	f.asks(ann, text, answer)
	f.Must(f.bot.AwaitCalls(rig.Patient(f), "sendMessage", calls+1))
	f.bot.Fail(telegram.Failure{Method: "sendMessage", Code: 502, Done: true}) // the second
	release()
	_, err := f.bot.AwaitIn(rig.Patient(f), annsChat, func(all []telegram.Message) bool {
		return len(slices.DeleteFunc(all, func(m telegram.Message) bool { return !m.Bot })) >= before+2
	})
	f.Must(err)
	f.crash()
	f.serves(f.before(week[4].morning).Add(time.Hour))
}

// loginExpires has Claude's login expire with Ben's message. It is back before he writes again.
func (f *family) loginExpires(mark func(string) string) {
	f.Helper()
	text := mark("[[error 401]] Are you logged in?")
	f.asks(ben, text, "You said: "+text)
	f.said = append(f.said, told.Said{Place: ben, Text: "the login", Aside: true, Reply: regexp.MustCompile("^Claude is not logged in on its machine; your message is kept")})
	_, err := f.bot.AwaitIn(rig.Patient(f), bensChat, func(all []telegram.Message) bool {
		return strings.HasPrefix(all[len(all)-1].Text, "Claude is not logged in")
	})
	f.Must(err)
	f.writes(ben, mark("And now?"))
}

// stops has Cleo stop what takes too long.
func (f *family) stops(mark func(string) string) {
	f.Helper()
	text := mark("[[delay 600s]] Count the stars")
	f.asks(cleo, text, "You said: "+text)
	f.working(text)
	stop := f.bot.Say(cleosChat, "/stop")
	f.said = append(f.said, told.Said{Place: cleo, Number: stop.Number, Text: "/stop", Aside: true, IsStop: true, Reply: regexp.MustCompile(`^Stopped\.`)})
	f.writes(cleo, mark("Never mind"))
}

// ranByTheClock checks that the runs of the schedules bear the times of the week.
func (f *family) ranByTheClock(days []int) {
	f.Helper()
	var want, got []string
	for _, day := range days {
		due := week[day]
		want = append(want, "cron:night:"+due.night, "cron:morning:"+due.morning)
	}
	for _, note := range f.notes() {
		var n struct{ Note struct{ ID string } }
		f.Must(json.Unmarshal([]byte(note), &n))
		if strings.HasPrefix(n.Note.ID, "cron:") {
			got = append(got, n.Note.ID)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	rig.Same(f, "the runs of the schedules", want, got)
}
