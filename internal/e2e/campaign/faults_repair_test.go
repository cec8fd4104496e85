package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/faults"
	"nbs-worker/internal/sim/rig"
)

// The repair of a round: one resume, and the proof that the conversation is the same.

// repairAtOnce is what an impatient script does. It may be refused, and must do no harm.
func (r *round) repairAtOnce() {
	r.Helper()
	again := r.NBS("resume", subject)
	r.verb.Stderr += "\nand the resume right after it: " + again.String()
}

// repair is one resume, and the proof that the agent knows what it was told.
func (r *round) repair() {
	r.Helper()
	question := fmt.Sprintf("What number? Round %d.", r.rounds)
	ask := []string{"--prompt", question}
	if r.fault.Verb == faults.Spawn {
		ask = nil // the first prompt is sent by the resume itself when it was not taken yet, and only then
	}
	switch {
	case !r.there && r.fault.Verb == faults.Spawn:
		r.OK(r.spawn()...)
	case !r.there:
		r.OK("spawn", subject, "--model", "sonnet", "--session-id", r.id, "--prompt", question)
	case r.settled.Running:
		r.repairRunning(ask)
	default:
		r.OK(append([]string{"resume", subject}, ask...)...)
	}
	s := r.WaitState(subject, "idle")
	if ask == nil {
		r.TypeLine(s, question)
	}
	told := r.number
	r.number = r.hear(question)
	times := r.timesSaid(told)
	rig.Check(r, times <= 1 && (times != 0 || told != r.number), "that the number is %d was said %d times to the agent", told, times)
}

// timesSaid is how often the transcript has it that the agent was told a number.
func (r *round) timesSaid(number int) int {
	r.Helper()
	s := r.NBS("session", subject, "--json")
	var seen e2e.Session
	if s.Code != 0 || e2e.One(s.Stdout, &seen) != nil || seen.Transcript == nil {
		return 0
	}
	text, err := os.ReadFile(seen.Transcript.Path)
	r.Must(err)
	times := 0
	for line := range strings.Lines(string(text)) {
		var said struct {
			Type    string
			Message struct{ Content json.RawMessage }
		}
		if json.Unmarshal([]byte(line), &said) == nil && said.Type == "user" && isText(said.Message.Content, tell(number)) {
			times++
		}
	}
	return times
}

// isText reports whether the content of a message is this text, alone or in a block.
func isText(content json.RawMessage, text string) bool {
	var plain string
	if json.Unmarshal(content, &plain) == nil {
		return plain == text
	}
	var blocks []struct{ Text string }
	return json.Unmarshal(content, &blocks) == nil && len(blocks) == 1 && blocks[0].Text == text
}

// repairRunning repairs an agent that was seen to run: a resume is refused, and --force ends it. One that had been told
// to end may have obeyed by then; then the resume succeeds, and must have found it ended.
func (r *round) repairRunning(ask []string) {
	r.Helper()
	seen, _, _ := r.lastStart(subject)
	plain := r.NBS(append([]string{"resume", subject}, ask...)...)
	if plain.Code == 0 && r.mayBeEnding(seen) {
		r.checkEnded(seen)
		return
	}
	r.MustRefuse(plain, 5, "runs already")
	r.OK(append([]string{"resume", subject, "--force"}, ask...)...)
}

// mayBeEnding reports whether a start that was seen to run may just be obeying a verb that was killed after it had sent
// TERM. Nobody can see a signal on its way, but who may have got one is known: the start that the verb met, and by stop
// and dismiss only when the agent is marked as stopped, for that is written first.
func (r *round) mayBeEnding(seen startOf) bool {
	if !r.fault.Hits(faults.TheVerb) || !r.hit.Hit || seen.Process.Invocation != r.began.Process.Invocation {
		return false
	}
	switch r.fault.Verb {
	case faults.Stop, faults.Dismiss:
		return r.settled.Desired == "stopped"
	case faults.Force:
		return true
	default:
		return false
	}
}

// checkEnded: a resume that succeeded where an agent had been seen to run has not started a second one.
func (r *round) checkEnded(seen startOf) {
	r.Helper()
	now, _, err := r.lastStart(subject)
	rig.Check(r, err == nil && now.Process.Invocation != seen.Process.Invocation, "resume succeeded and has started nothing: %v, before %+v\nafter %+v", err, seen, now)
	rig.Check(r, seen.claudeGone(), "resume succeeded beside a claude that lives: %+v", seen)
	rig.Check(r, r.fault.Hits(faults.Launcher) || now.hasExitOf(seen), "how the agent ended is not in the record: %+v\nafter %+v", seen, now)
}

// hear waits for the answer to the question and returns the number.
func (r *round) hear(question string) int {
	r.Helper()
	heard := 0
	r.WaitFor(fmt.Sprintf("the agent says one of %v", r.accept), func() (bool, string) {
		screen := r.Screen(subject)
		at := strings.LastIndex(screen, question)
		if at < 0 {
			return false, screen
		}
		for _, number := range r.accept {
			if strings.Contains(screen[at:], "● "+strconv.Itoa(number)) {
				heard = number
			}
		}
		return heard != 0, screen
	})
	r.WaitState(subject, "idle")
	return heard
}
