package bridge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// TestMain lets the test binary play a bridge, which kills itself at a step.
func TestMain(m *testing.M) {
	if url := os.Getenv("BRIDGE_URL"); url != "" {
		playBridge(url)
	}
	os.Exit(m.Run())
}

// whileGrowing begins the step at which a bridge dies whose first answer grows.
const whileGrowing = "growing, "

func playBridge(url string) {
	steps := 0
	dies, grows := strings.CutPrefix(os.Getenv("BRIDGE_DIES"), whileGrowing)
	shown := make(chan struct{})
	h := &house{path: os.Getenv("BRIDGE_FILE"), at: func(step string) {
		steps++
		if dies == step || dies == strconv.Itoa(steps) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if grows && step == "after shown" {
			close(shown)
		}
	}}
	if grows {
		h.hear = func(_ string, heard func(Progress)) func() { heard(Progress{Text: "You sa"}); return func() {} }
		h.reply = func(_ context.Context, text string, _ Answer) (Answer, error) {
			<-shown
			return Answer{Text: "You said: " + text}, nil
		}
	}
	b, err := newBridge(Options{
		Token: os.Getenv(telegram.TokenVariable), Allowed: []int64{7, 8}, Chats: h, Deliveries: h, Menu: h, Team: h, URL: url, Answers: []int64{7},
		Poll: time.Second, Pause: 10 * time.Millisecond, Grow: time.Millisecond, Log: func(line string) { println(line) },
	})
	if err != nil {
		panic(err)
	}
	if id := os.Getenv("BRIDGE_POST"); id != "" {
		go func() {
			if err := b.Post(context.Background(), "telegram:7", id, request); err != nil {
				panic(err)
			}
		}()
	}
	panic(b.Run(context.Background()))
}

// startBridge starts one in a process of its own; it is killed at the end of the test.
func startBridge(t *testing.T, server *sim.Server, file, dies string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	rig.Must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(append(os.Environ(), env...), "BRIDGE_URL="+server.URL(), "BRIDGE_FILE="+file, "BRIDGE_DIES="+dies, telegram.TokenVariable+"="+sim.Token)
	cmd.Stderr = t.Output()
	rig.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have done so itself
		_ = cmd.Wait()
	})
	return cmd
}

func TestNothingIsLostWhenTheBridgeIsKilled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dies string
		want []string
	}{
		{"before accept", []string{"You said: one", "You said: two"}},
		{"after accept", []string{"You said: one", "You said: two"}}, // and before the acknowledgement
		{"before telling", []string{"You said: one", "You said: two"}},
		// Whether the answer was sent is not known: it is told again, and says so.
		{"after telling", []string{PerhapsAgain + "You said: one", "You said: two"}},
		{"before told", []string{"You said: one", PerhapsAgain + "You said: one", "You said: two"}},
		{"after told", []string{"You said: one", "You said: two"}},
		// The answer takes the place of what was shown: a repeated edit changes nothing.
		{whileGrowing + "before shown", []string{bridge.Ellipsis, "You said: one", "You said: two"}},
		{whileGrowing + "after shown", []string{"You said: one", "You said: two"}},
		{whileGrowing + "before telling", []string{"You said: one", "You said: two"}},
		{whileGrowing + "after telling", []string{"You said: one", "You said: two"}},
		{whileGrowing + "before told", []string{"You said: one", "You said: two"}},
	} {
		t.Run(test.dies, func(t *testing.T) {
			t.Parallel()
			server := simulator(t)
			file := filepath.Join(t.TempDir(), "house")
			server.Say(7, "one")
			if err := startBridge(t, server, file, test.dies).Wait(); err == nil || err.Error() != "signal: killed" {
				t.Fatalf("the bridge ended with %v", err)
			}
			server.Say(7, "two")
			startBridge(t, server, file, "")
			sent := toldAnswers(t, server, 7, len(test.want))
			rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
			got := strings.Join(sent, "|")
			rig.Check(t, got == strings.Join(test.want, "|"), "the chat was told %q, want %q", got, strings.Join(test.want, "|"))
		})
	}
}

// A bridge is killed again and again while two users write. Each answer is told, in order, and one that is told twice
// says so.
func TestAStreamOfMessagesSurvivesKills(t *testing.T) {
	t.Parallel()
	const rounds, seed = 12, 5
	random := rand.New(rand.NewPCG(seed, seed))
	server := simulator(t)
	file := filepath.Join(t.TempDir(), "house")
	for round := range rounds {
		for _, chat := range []int64{7, 8} {
			server.Say(chat, fmt.Sprintf("a%d", round))
			server.Say(chat, fmt.Sprintf("b%d", round))
		}
		const steps = 12 // of the 24 that four messages take
		if err := startBridge(t, server, file, strconv.Itoa(1+random.IntN(steps))).Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("round %d: the bridge ended with %v", round, err)
		}
	}
	startBridge(t, server, file, "")
	for _, chat := range []int64{7, 8} {
		server.Say(chat, "end")
		count := 2*rounds + 1
		sent := toldAnswers(t, server, chat, count)
		for ; sent[len(sent)-1] != "You said: end"; count++ { // by one for each that was told twice
			sent = toldAnswers(t, server, chat, count+1)
		}
		var first, unmarked []string
		for _, text := range sent {
			text, again := strings.CutPrefix(text, PerhapsAgain)
			if !slices.Contains(first, text) {
				first = append(first, text)
			}
			if again {
				continue
			}
			// A request of a killed bridge may arrive after that of the next one: the order of the two does not count.
			rig.Check(t, !slices.Contains(unmarked, text), "chat %d was told %q twice as if for the first time: %q", chat, text, sent)
			unmarked = append(unmarked, text)
		}
		for i, text := range first[:2*rounds] {
			want := fmt.Sprintf("You said: %c%d", 'a'+i%2, i/2)
			rig.Check(t, text == want, "chat %d: answer %d is %q, want %q", chat, i, text, want)
		}
		rig.Check(t, len(first) == 2*rounds+1 && len(sent) <= len(first)+rounds, "chat %d: %d answers, %d of them different", chat, len(sent), len(first))
	}
}
