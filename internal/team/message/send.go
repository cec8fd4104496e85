package message

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/message/typing"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// Sender writes to the agents of one project.
type Sender struct {
	project    *observe.Project
	supervisor *supervisor.Supervisor
}

// New returns a sender that writes in the name of the supervisor's caller.
func New(s *supervisor.Supervisor) *Sender { return &Sender{project: s.Project, supervisor: s} }

// Send writes to an agent when it is at its prompt, and returns a receipt, also beside an error. Errors: BadInput;
// NotFound; Held at a dialog, at a draft, or if the caller may not send; Conflict when the agent does not run;
// TimedOut when its turn did not end in time, or without proof.
func (s *Sender) Send(ctx context.Context, handle agent.Handle, m Message) (Receipt, error) {
	receipt := Receipt{Handle: handle, Word: Held}
	if err := m.check(); err != nil {
		return receipt, err
	}
	from, err := s.supervisor.Caller.Envelope(handle, m.Raw)
	if err != nil {
		return receipt, err
	}
	text := normal(m.Text)
	if from != "" {
		text = from + "\n" + text
		m.ByFile = m.ByFile || claude.NamesFile(text) // in a user's words, it would make Claude read the file unasked
	}
	l := letter{from: from, text: text, byFile: m.ByFile || !isTypable(text), force: m.Force}
	if m.Queue {
		return s.lineUp(ctx, handle, l)
	}
	late := deadline(m.Timeout)
	for overtaken := ""; ; {
		var began start
		typed, again, err := s.once(ctx, &receipt, &began, l, late)
		if _, away := errors.AsType[*Elsewhere](err); away && !m.Raw {
			typed, err = s.byOutbox(ctx, &receipt, &began, &l, late)
		}
		if before := s.project.Store.Outbox(receipt.Handle).Due(); errors.Is(err, errOvertakes) && (before == "" || before != overtaken) { // or what waits stays there
			overtaken, again, err = before, true, unsubmitted(s.Deliver(ctx, receipt.Handle, late, func(Delivered) {}))
		}
		switch {
		case err != nil:
			return receipt, err
		case again:
			err = s.await(ctx, handle, late, "ready", string(agent.Waiting))
		case m.Reply:
			var words string
			if words, err = s.answer(ctx, &began, &receipt, typed, m.Timeout); err == nil {
				receipt.Answer = &words
			}
		}
		if err != nil || !again {
			return receipt, err
		}
	}
}

// letter is a text in the form that reaches an agent.
type letter struct {
	from   string // the envelope that the text begins with; "": a person's words
	text   string
	byFile bool
	force  bool                                  // also if its last receipt was unknown, and it has not arrived since
	again  []queue.Entry                         // entries that remember a forced text; forgotten once it is submitted
	entry  *entry                                // of the outbox; nil: the text is not from the outbox
	proof  func(*start) (transcript.Sent, error) // reports whether Claude has a command; nil for a text
}

// verb returns the verb that gives it to an agent.
func (l *letter) verb() string {
	if l.proof != nil {
		return "compact"
	}
	return "send"
}

// start is the position of a transcript before a text was submitted.
type start struct {
	record agent.Record
	bytes  int64
	at     time.Time // in whole milliseconds, like the times in transcripts
}

// once writes to an agent that is at its prompt, and returns the typed text. again reports that the agent is working,
// and the caller must wait.
func (s *Sender) once(ctx context.Context, receipt *Receipt, began *start, l letter, late time.Time) (typed string, again bool, err error) {
	sight, unlock, err := s.lookLocked(ctx, &receipt.Handle, "send", supervisor.Until(late))
	if err != nil {
		return "", false, err
	}
	defer unlock()
	if again, err = s.admits(&sight); err != nil {
		return "", false, err
	}
	if l.entry == nil && l.proof == nil {
		if typed, known, err := s.remembered(ctx, receipt, began, &l, &sight); known || err != nil {
			return typed, false, err
		}
	}
	if l.proof == nil && sight.Spending.Over() { // a command of Claude's own, which only a person gives, is let through
		return "", false, fail.Errorf(fail.Held, "%s", sight.Spending.Why()).
			Hint("to let it go on now: nbs-worker set %s budget=off", sight.Record.Handle).
			Hint("to have the message wait until then: repeat the command with --queue")
	}
	if again {
		return "", true, nil
	}
	if err := s.checkHere(&sight, l.verb()); err != nil {
		return "", false, err
	}
	typed, err = s.write(ctx, receipt, began, &l, &sight)
	if receipt.Word != Held {
		err = errors.Join(err, forget(ctx, s.project.Store.Outbox(receipt.Handle), l.again...))
	}
	return typed, false, err
}

// write writes to an idle agent, and returns the typed text. The caller holds the verb lock.
func (s *Sender) write(ctx context.Context, receipt *Receipt, began *start, l *letter, sight *observe.Sight) (typed string, err error) {
	if err := s.checkKey(&sight.Record, claude.KeySubmit); err != nil {
		return "", err
	}
	terminal, err := s.terminal(sight)
	if err != nil {
		return "", err
	}
	prompt := typing.In(terminal, &sight.Record, s.project.Store.Outbox(receipt.Handle), sight.Report.TurnEnd(), s.project.Seconds)
	shown, err := prompt.Await(ctx)
	if err != nil {
		return "", err
	}
	file, _, err := s.transcript(&sight.Record) // no transcript before the first prompt
	if err != nil {
		return "", err
	}
	began.record, began.bytes, began.at = sight.Record, file.Size, time.Now().Truncate(time.Millisecond)
	typed, receipt.Channel = l.text, Typed
	if l.byFile || !fits(l.text, shown) {
		receipt.Channel = ByFile
		if typed, receipt.File, err = s.handOver(l); err != nil {
			receipt.Channel = ""
			return "", err
		}
	}
	attempt := queue.Typing{SessionID: sight.Record.SessionID, Bytes: file.Size, Typed: typed, Channel: receipt.Channel, File: receipt.File}
	doubtful, err := s.remember(ctx, receipt, l, attempt)
	if err != nil {
		return "", errors.Join(err, s.withdraw(receipt))
	}
	if err := errors.Join(prompt.Begin(typed), l.entry.begin(ctx, attempt)); err != nil {
		return "", errors.Join(err, s.withdraw(receipt), s.settleMemory(ctx, receipt, doubtful, nil))
	}
	submitted, sent, err := prompt.Deliver(ctx, typed, typing.Claude{
		Sent: func() (transcript.Sent, error) {
			if l.proof != nil {
				return l.proof(began)
			}
			return s.sent(began, typed)
		},
		Alive: func() bool { return !s.project.Machine.IsGone(began.record.Process.Identity) },
		AtWork: func() bool {
			entry, err := s.project.Registered(&began.record)
			return err == nil && entry.Status == live.StatusBusy
		},
	})
	if !submitted {
		return "", errors.Join(err, s.withdraw(receipt), s.settleMemory(ctx, receipt, doubtful, nil))
	}
	receipt.Word, receipt.UUID = wordOf(sent), sent.UUID
	if l.proof != nil {
		return typed, err
	}
	err = errors.Join(err, s.settleMemory(ctx, receipt, doubtful, err))
	noted := s.project.Note(context.WithoutCancel(ctx), "sent", &sight.Record, fmt.Sprintf("%s (%s) %s", receipt.Word, receipt.Channel, receipt.UUID))
	return typed, errors.Join(err, noted)
}

// withdraw removes the file of a text that was not submitted at all.
func (s *Sender) withdraw(receipt *Receipt) (err error) {
	if receipt.File != "" {
		err = s.project.Store.DropMessage(receipt.File)
	}
	receipt.Channel, receipt.File = "", ""
	return err
}

// lookLocked looks at an agent under its verb lock, and sets the handle to the record's spelling.
func (s *Sender) lookLocked(ctx context.Context, handle *agent.Handle, verb string, patience supervisor.Patience) (sight observe.Sight, unlock func(), err error) {
	r, err := s.project.Store.Load(*handle)
	if err != nil {
		return sight, nil, err
	}
	*handle = r.Handle
	if unlock, err = s.supervisor.LockToSend(ctx, r.Handle, verb, patience); err != nil {
		return sight, nil, err
	}
	if r, err = s.project.Store.Load(r.Handle); err != nil {
		unlock()
		return sight, nil, err
	}
	return s.project.LookAt(ctx, r), unlock, nil
}

// handOver writes a text to a file, and returns the text to type in its place. Errors: Unfit if the path of the
// project cannot be typed.
func (s *Sender) handOver(l *letter) (typed, path string, err error) {
	if path, err = s.project.Store.PutMessage(l.text, s.project.Now()); err != nil {
		return "", "", err
	}
	if typed = l.pointer(path); typed == normal(typed) && isTypable(typed) {
		return typed, path, nil
	}
	unfit := fail.Errorf(fail.Unfit, "the path of the project, %s, may not arrive unchanged when it is typed", human.Quote(s.project.Store.Project())).
		Hint("send a short text, which needs no file; or rename the folder")
	return "", "", errors.Join(unfit, s.project.Store.DropMessage(path))
}

// pointer returns the text to type in the place of a text that is in a file. For an agent's text it begins with the
// envelope: claude would take the text of a file that its user names for the user's words.
func (l *letter) pointer(path string) string {
	if l.from != "" {
		return l.from + "\nThe message is in the file " + path + ". Read the whole file."
	}
	return "There is a message for you in the file " + path + ". Read the whole file and do what it says."
}

// admits reports whether the text can be typed now or after the present turn. Errors: Held; Conflict if the agent
// does not run; the error that kept the look from being complete.
func (s *Sender) admits(sight *observe.Sight) (again bool, err error) {
	switch state := sight.Status.State; {
	case sight.Err != nil:
		return false, sight.Err
	case sight.Status.Down():
		return false, fail.Errorf(fail.Conflict, "the agent does not run: %s", sight.Status.Word()).
			Hint("nbs-worker resume %s", sight.Record.Handle)
	case s.project.IsForeign(&sight.Record) && s.project.JobElsewhere(sight) == nil:
		return false, s.project.HintJob(fail.Errorf(fail.Held, "it runs on host %s, and text can be typed only there", human.Quote(sight.Record.Process.Host)), &sight.Record, "send")
	case state == agent.Waiting:
		return false, fail.Errorf(fail.Held, "it waits for a person: %s", sight.Status.Detail).
			Hint("answer it%s", s.project.WayToAnswer(sight.Record.Handle))
	case state == agent.Busy, state == agent.Retrying, state == agent.Starting:
		return true, nil
	case state != agent.Idle && state != agent.TurnFailed:
		return false, fail.Errorf(fail.Held, "its state is unknown: %s", sight.Status.Word()).
			Hint("nbs-worker session %s", sight.Record.Handle)
	case s.project.JobElsewhere(sight) != nil:
		return false, nil
	case s.project.Machine.Halted(sight.Record.Process.Claude().PID):
		return false, fail.Errorf(fail.Held, "its process is stopped by a signal, and reads no keys").
			Hint("to have it go on: kill -CONT %d", sight.Record.Process.Claude().PID)
	}
	return false, nil
}

func (s *Sender) transcript(r *agent.Record) (transcript.File, bool, error) {
	config, err := s.project.ConfigOf(r)
	if err != nil {
		return transcript.File{}, false, err
	}
	return config.Transcript(r.SessionID)
}

// sent reports whether the transcript contains a text, and sets began to the conversation that has it. After a
// person's /clear, claude may be in another conversation than the record says.
func (s *Sender) sent(began *start, text string) (sent transcript.Sent, err error) {
	if file, found, err := s.transcript(&began.record); err != nil || found {
		if err == nil {
			sent, err = file.Sent(began.bytes, text)
		}
		if sent.Found || err != nil {
			return sent, err
		}
	}
	for _, id := range s.movedTo(&began.record) {
		there := began.record
		there.SessionID = id
		file, found, err := s.transcript(&there)
		if err == nil && found {
			sent, err = file.SentSince(began.at, text)
		}
		if sent.Found {
			began.record, began.bytes = there, 0
		}
		if sent.Found || err != nil {
			return sent, err
		}
	}
	return transcript.Sent{}, nil
}

// movedTo returns the conversations that the record and Claude's registry name now, other than the given one.
func (s *Sender) movedTo(r *agent.Record) (ids []agent.SessionID) {
	if now, err := s.project.Store.Load(r.Handle); err == nil {
		ids = append(ids, now.SessionID)
	}
	if config, err := s.project.ConfigOf(r); err == nil {
		if id, moved := config.Registry().MovedTo(r, s.project.Store.Report(r.Handle), 0); moved {
			ids = append(ids, id)
		}
	}
	return slices.DeleteFunc(slices.Compact(ids), func(id agent.SessionID) bool { return id == r.SessionID })
}
