package agents

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
)

const readyWait = 30 * time.Second

// startOptions are the flags that all starting verbs share.
type startOptions struct {
	prompt, promptFile string
	promptGiven        bool
	timeout            time.Duration
	timeoutGiven       bool
	noWait             bool
	trust              trustFlag
	dryRun             bool
}

func (o *startOptions) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.prompt, "prompt", "", "first message to the agent; surrounding white space is dropped")
	flags.StringVar(&o.promptFile, "prompt-file", "", "read the message from this file, - for stdin")
	flags.DurationVar(&o.timeout, "timeout", readyWait, "how long to wait until claude is ready and has the prompt (not for the answer); if not given, longer on a busy machine")
	flags.BoolVar(&o.noWait, "no-wait", false, "return as soon as claude runs, before it is ready")
	o.trust.bind(cmd)
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the command that would run, and change nothing")
	cmd.MarkFlagsMutuallyExclusive("prompt", "prompt-file")
	cmd.MarkFlagsMutuallyExclusive("timeout", "no-wait")
}

// parse checks the options, for the start of one agent, or of several if handle is "". takePrompt reads the prompt
// file.
func (o *startOptions) parse(f *ui.Factory, handle agent.Handle) (launch.Start, error) {
	start := launch.Start{Prompt: o.prompt, Wait: o.timeout, Patience: !o.timeoutGiven, Trust: o.trust.given, Progress: f.Progress(handle)}
	var err error
	if start.TrustDir, err = ui.NamedFolder("the folder to trust", o.trust.dir); err != nil {
		return start, err
	}
	if o.noWait {
		start.Wait = 0
	} else if o.timeout <= 0 {
		return start, fail.Errorf(fail.BadInput, "--timeout %s must be more than 0", o.timeout).
			Hint("to return without waiting: --no-wait")
	}
	if o.promptFile != "" && o.promptFile != "-" {
		if start.PromptFile, err = filepath.Abs(o.promptFile); err != nil {
			return start, err
		}
	}
	return start, trimPrompt(&start, o.promptGiven)
}

func trimPrompt(start *launch.Start, given bool) error {
	start.Prompt = strings.TrimSpace(start.Prompt) // claude drops surrounding space too
	if given && start.Prompt == "" {
		return fail.Errorf(fail.BadInput, "the prompt is blank")
	}
	return nil
}

// takePrompt reads the prompt file, if one is given.
func (o *startOptions) takePrompt(f *ui.Factory, s *supervisor.Supervisor, start *launch.Start) error {
	if o.promptFile == "" {
		return nil
	}
	if err := s.Caller.CheckWords(*start); err != nil {
		return err
	}
	return readPrompt(o.promptFile, f.Streams.In, start)
}

func readPrompt(path string, in io.Reader, start *launch.Start) (err error) {
	if start.Prompt, err = ui.ReadText("prompt file", path, in); err != nil {
		return err
	}
	return trimPrompt(start, true)
}

// sayStarted reports effects beyond a start, to scripts too, even of a failed or late start.
func sayStarted(f *ui.Factory, handle agent.Handle, started supervisor.Started) {
	warnUnkept(f, "keep", handle, started.Unkept)
	sayTranscript(f, handle, started.Restored, started.Loss)
	if started.Unsaid != "" {
		f.Say("%s: its first prompt was never delivered; the new prompt was sent instead. The record still has the first one: nbs-worker session %s --json", handle, handle)
	}
	if missed := started.Briefed.Missed; missed != nil {
		f.Say("%s: the briefing is incomplete: %s", handle, missed)
	}
	if moved := started.Moved; moved != nil {
		f.Say("%s: its folder has moved from %s to %s", handle, moved.From, moved.To)
	}
	if started.WorksIn != "" {
		f.Say("%s: its session works in %s, which it entered earlier", handle, human.Quote(started.WorksIn))
	}
	if started.Unsaved != "" {
		f.Say("%s: its turns are being lost: %s", handle, started.Unsaved)
	}
	if started.Mute != "" && started.Record.TakesAnswers() {
		f.Say("%s: commands cannot answer what it asks: its Claude runs no hooks: %s", handle, started.Mute)
	}
	if started.Old { // it runs and is what was asked for; its later output is unknown
		f.Hint("claude %s is older than the versions that nbs-worker is tested with", human.Quote(started.Record.ClaudeVersion))
	}
}

// startedOutcome returns the outcome of a start. It tells a person how to answer what the agent asks already.
func startedOutcome(f *ui.Factory, s *supervisor.Supervisor, started supervisor.Started) ui.Outcome {
	r := &started.Record
	if started.Status.State == agent.Waiting {
		f.Note("%s asks something; a person has to answer %s", r.Handle, s.Project.WayToAnswer(r.Handle))
	}
	words := fmt.Sprintf("%s, model %s, %s, session %s, tmux %s", started.Status.Word(), ui.ModelName(r.Model), r.LaunchPermissionMode(), r.SessionID, r.TmuxSession)
	return ui.Outcome{JSON: wire.NewStarted(started), Handle: r.Handle, Words: words}
}
