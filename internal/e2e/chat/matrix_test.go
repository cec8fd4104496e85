package chat

import (
	"fmt"
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

// rooms returns a homeserver with the rooms, which no server serves yet.
func (m *team) rooms() *rooms {
	m.Helper()
	home, err := matrix.Start(matrix.Options{})
	m.Must(err)
	m.Cleanup(func() { _ = home.Close() })
	home.Know(anns, "Ann")
	home.Room(all, "Home", anns, bobs, matrix.Bot)
	home.Room(alone, "Ann", anns)
	m.Must(os.WriteFile(filepath.Join(m.World.RunDir, "token"), []byte(matrix.Token+"\n"), 0o600))
	return &rooms{team: m, home: home, read: map[string]int{}}
}

// serves begins the server, as often as it is ended.
func (r *rooms) serves(args ...string) {
	r.Helper()
	asked := r.home.Calls("whoami")
	r.server = r.Begin(append([]string{
		"serve", "--matrix-token-file", filepath.Join(r.World.RunDir, "token"), "--matrix-homeserver", r.home.URL(),
		"--matrix-room", all, "--matrix-user", anns, "--matrix-user", bobs, "--system-prompt", "Be terse.",
	}, args...)...)
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
	r := m.rooms()
	home := r.home
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

// says waits until the bot has written words into a room, and returns its first message that has them.
func (r *rooms) says(room string, words ...string) (found matrix.Message) {
	r.Helper()
	r.WaitFor(fmt.Sprintf("the bot says %q", words), func() (bool, string) {
		at := slices.IndexFunc(r.home.Bots(room), func(m matrix.Message) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(m.Text, w) })
		})
		if at >= 0 {
			found = r.home.Bots(room)[at]
		}
		return at >= 0, strings.Join(r.home.Sent(room), "\n--\n")
	})
	return found
}

// A room is told what an agent asks, and answers with a command, since it has no buttons. Whose the room is counts also
// when a need is told as soon as the server begins.
func TestARoomAnswersWhatAnAgentAsks(t *testing.T) {
	m := standIn(t)
	r := m.rooms()
	args := []string{"--matrix-room", alone, "--matrix-agents", "private", "--matrix-needs", alone, "--matrix-answers", anns}
	r.serves(args...)
	r.home.Invite(alone, anns)
	r.home.Say(alone, anns, "Remember 42.")
	r.says(alone, "OK.")
	r.noted()
	r.end(syscall.SIGKILL)

	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	m.WaitState("alpha", "idle")
	m.OK("send", "alpha", `[[tool Bash {"command":"touch made"}]]`)
	var open []struct{ ID string }
	m.WaitFor("alpha asks", func() (bool, string) {
		m.Decode(&open, "requests", "alpha", "--json")
		return len(open) == 1, ""
	})
	r.serves(args...)
	approve := "!approve " + open[0].ID
	r.says(alone, "alpha asks for permission, since ", "command: touch made", "Approve: "+approve)
	r.home.Say(all, bobs, approve)
	r.says(all, "/approve is off in groups.")
	r.home.Say(alone, anns, approve)
	r.says(alone, "alpha: allowed.")
	r.says(alone, "command: touch made", "Allowed at ", ", by matrix:"+anns+".")
	m.WaitFor("the tool runs", func() (bool, string) {
		return e2e.Exists(filepath.Join(m.World.Project, "made")), ""
	})
	r.end(syscall.SIGINT)
	m.Check(len(r.home.Faults()) == 0, "%q", r.home.Faults())
}
