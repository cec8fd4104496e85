package conversation

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/headless"
)

// voice records what a claude says besides its answers: when a background task has ended, Claude begins a turn by
// itself. It is recorded with the turn before it, and after that turn's answer.
type voice struct {
	*Engine
	c *conversations.Conversation

	mu      sync.Mutex
	turn    string // the id of the last turn that is recorded as answered, or of the first; "": no turn yet
	since   time.Time
	over    bool // Claude has answered another turn, whose answer is not recorded yet
	waiting []conversations.Unasked
	strict  bool // that turn fails for a refused tool
}

// spoke is called with what Claude says by itself.
func (v *voice) spoke(said turn.Spoken) {
	if len(said.Denials) > 0 {
		words, denials := deniedWords(said.Denials)
		v.add(conversations.Unasked{ID: said.ID + ":denied", Text: words + ".", Notice: true, Denials: denials})
	}
	came := conversations.Unasked{ID: said.ID, Text: strings.TrimSpace(said.Answer), Usage: conversations.Usage(said.Usage), Cost: said.CostUSD}
	if said.Class != turn.Answered {
		came.Notice, came.Text = true, fmt.Sprintf("Claude wanted to say something by itself, and failed: %s.", strings.TrimSuffix(said.Detail, "."))
	}
	v.add(came)
}

// cut is called when a claude was ended that still had something to do.
func (v *voice) cut(tasks []string) {
	v.mu.Lock()
	id, since := v.turn, v.since
	v.mu.Unlock()
	words := ""
	if state, err := v.c.State(); err == nil && stoppedAfter(&state, id) {
		words = stoppedWords(tasks)
	} else {
		after := ""
		if !since.IsZero() {
			after = fmt.Sprintf(" %s after the answer", v.Project.Now().Sub(since).Round(time.Second))
		}
		words = cutWords(tasks, after)
	}
	v.add(conversations.Unasked{ID: uuid.NewString(), Text: words, Notice: true, Ended: true})
}

// cutWords says what came to nothing when a claude was ended. after says when, and begins with a space.
func cutWords(tasks []string, after string) string {
	switch len(tasks) {
	case 0:
		return fmt.Sprintf("Claude was ended%s, before it had said what came of its background tasks.", after)
	case 1:
		return fmt.Sprintf("A background task was ended%s: %s.", after, human.Legible(tasks[0]))
	default:
		return fmt.Sprintf("%d background tasks were ended%s: %s.", len(tasks), after, human.Legible(strings.Join(tasks, "; ")))
	}
}

// answered is called when Claude has answered a turn: what it says from here on comes after that answer.
func (v *voice) answered() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
}

// recorded is called when the result of a turn is recorded. What comes after a text that Claude did not take still
// belongs to the answer before it.
func (v *voice) recorded(ctx context.Context, result *conversations.Result, strict bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over = false; result.Class == "" || v.turn == "" {
		v.turn, v.since, v.strict = result.ID, v.Project.Now(), strict
	}
	for _, came := range v.waiting {
		v.record(context.WithoutCancel(ctx), came)
	}
	v.waiting = nil
}

func (v *voice) add(came conversations.Unasked) {
	came.At = v.Project.Now().UTC()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.turn == "" || v.over {
		v.waiting = append(v.waiting, came)
		return
	}
	v.record(context.Background(), came)
}

// record makes it durable, also if the runner is being ended. What cannot be written is still in Claude's transcript.
func (v *voice) record(ctx context.Context, came conversations.Unasked) {
	came.Turn, came.Tell = v.turn, came.Text != "" && v.IsChat != nil && v.IsChat(v.c.Key())
	if v.strict && len(came.Denials) > 0 {
		came.Class = string(ClassDenied)
	}
	if v.c.Add(ctx, came) == nil && v.Added != nil {
		v.Added(v.c.Key())
	}
}

// voiceOf returns the voice of a claude that an earlier turn has started.
func (j *job) voiceOf(s *headless.Session) *voice {
	if v, is := j.voices.Load(s.Invocation); is {
		return v.(*voice)
	}
	return &voice{Engine: j.Engine, c: j.c} // the claude has just ended
}

// missed records what Claude has said by itself since the last answer and what no process of ours has heard: the runner of
// that turn was killed, and its claude went on for a while.
func (j *job) missed(ctx context.Context) {
	if j.ask.Isolated || j.mode != conversations.Resumed {
		return
	}
	config, err := j.config()
	if err != nil {
		return
	}
	file, found, err := config.Transcript(j.state.Session.ID)
	if err != nil || !found {
		return
	}
	said, err := file.Unasked()
	state, stateErr := j.c.State()
	if err != nil || stateErr != nil || state.Last == "" {
		return
	}
	told := j.IsChat != nil && j.IsChat(j.c.Key())
	for _, text := range said[min(state.Heard, len(said)):] {
		came := conversations.Unasked{ID: uuid.NewString(), Turn: state.Last, Text: text, Tell: told, At: j.Project.Now().UTC()}
		switch err := j.c.Add(ctx, came); {
		case err != nil:
			return
		case !told:
			j.notices = append(j.notices, "Claude said by itself after the last answer: "+text)
		case j.Added != nil:
			j.Added(j.c.Key())
		}
	}
}

// noteLost adds a notice if a background task was ended together with an earlier claude, unless that was said.
func (j *job) noteLost(s *headless.Session) {
	beside := s.Beside()
	if state, err := j.c.State(); beside.Lost && err == nil && !state.Cut && j.mode == conversations.Resumed {
		j.notices = append(j.notices, "A background task of an earlier turn was ended before it had finished.")
	}
}
