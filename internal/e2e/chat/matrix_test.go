package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/matrix"
	"nbs-worker/internal/sim/rig"
)

const (
	anns  = "@ann:localhost"
	bobs  = "@bob:localhost"
	alone = "!ann:localhost"  // Ann and the bot
	all   = "!home:localhost" // Ann, Bob and the bot
)

// rooms are those of a family with the bot, and the server behind that.
type rooms struct {
	*team

	home   *matrix.Server
	server *e2e.Running
	read   map[string]int // messages of the bot, by room
}

// serves begins the server, as often as it is ended.
func (r *rooms) serves() {
	r.Helper()
	asked := r.home.Calls("whoami")
	r.server = r.Begin("serve", "--matrix-token-file", filepath.Join(r.World.RunDir, "token"), "--matrix-homeserver", r.home.URL(),
		"--matrix-room", all, "--matrix-user", anns, "--matrix-user", bobs, "--system-prompt", "Be terse.")
	r.Must(r.home.AwaitCalls(rig.Patient(r), "whoami", asked+1))
	server := r.server
	r.Cleanup(func() {
		if server.ProcessState == nil {
			_ = server.Process.Signal(syscall.SIGINT)
			_ = server.Wait()
		}
	})
}

// hears waits until the bot's next messages in a room begin like these. Until then, one may show a part of its answer.
func (r *rooms) hears(room string, want ...string) {
	r.Helper()
	_, err := r.home.AwaitIn(rig.Patient(r), room, func(shown []matrix.Message) bool {
		shown = slices.DeleteFunc(shown, func(m matrix.Message) bool { return m.From != matrix.Bot })
		shown = shown[min(r.read[room], len(shown)):]
		return len(shown) >= len(want) && slices.EqualFunc(shown[:len(want)], want, func(m matrix.Message, words string) bool {
			start, isStart := strings.CutSuffix(words, "...")
			return m.Text == words || isStart && strings.HasPrefix(m.Text, start)
		})
	})
	if err != nil {
		r.Fatalf("the bot said %q in %s; want %q at last: %v\n%s", r.home.Sent(room), room, want, err, r.server.Err.String())
	}
	r.read[room] += len(want)
}

// end ends the server, which is no failure.
func (r *rooms) end(signal syscall.Signal) {
	r.Helper()
	r.Must(r.server.Process.Signal(signal))
	if got := r.server.End(); signal != syscall.SIGKILL && got.Code != 130 && got.Code != 0 {
		r.Errorf("the server: %s", got)
	}
}

// Another chat system is like the first: two rooms with conversations of their own, a reset, a stop, and a server that is
// killed in the middle of a turn and while messages come. Each message is answered once, in its room.
func TestTwoRoomsOfMatrix(t *testing.T) {
	m := standIn(t)
	home, err := matrix.Start(matrix.Options{})
	m.Must(err)
	m.Cleanup(func() { _ = home.Close() })
	home.Know(anns, "Ann")
	home.Room(all, "Home", anns, bobs, matrix.Bot)
	home.Room(alone, "Ann", anns)
	m.Must(os.WriteFile(filepath.Join(m.World.RunDir, "token"), []byte(matrix.Token+"\n"), 0o600))
	r := &rooms{team: m, home: home, read: map[string]int{}}
	r.serves()
	home.Invite(alone, anns)
	home.Say(alone, anns, "Remember 42.")
	r.hears(alone, "OK.")
	home.Say(all, bobs, "nobody asked the bot")
	home.Say(all, bobs, "Simulated, Remember 7.", matrix.NamingTheBot)
	r.hears(all, "OK.")

	asked := func(text string) {
		r.WaitFor("the API is asked", func() (bool, string) {
			all := r.API.Requests()
			return strings.Contains(all[len(all)-1].Last(), text), ""
		})
	}
	home.Say(alone, anns, "[[delay 600s]] long")
	asked("[[delay 600s]] long")
	home.Say(alone, anns, "!stop")
	r.hears(alone, "Stopped. The conversation goes on.")

	home.Say(alone, anns, "[[until killed]] What number?")
	asked("[[until killed]] What number?")
	r.end(syscall.SIGKILL)
	r.API.Release("killed")
	home.Say(all, bobs, "What number?", matrix.NamingTheBot)
	r.serves()
	r.hears(alone, "42.")
	r.hears(all, "7.")

	r.noted()
	before := m.keyed("matrix:" + alone).SessionID
	home.Fail(matrix.Failure{Method: "send", Done: true}) // the reply arrives, and the server does not learn it
	home.Say(alone, anns, "/new")
	r.hears(alone, "Starting fresh; the old conversation is kept as "+before+".")
	home.Say(alone, anns, "What number?")
	r.hears(alone, "I don't have any number in mind.")
	r.end(syscall.SIGINT)
	for room, answers := range r.read {
		m.Check(len(home.Sent(room)) == answers, "in %s: %q", room, home.Sent(room))
	}
	m.Check(len(home.Faults()) == 0, "%q", home.Faults())
}
