package agents

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
)

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
	flags.DurationVar(&o.timeout, "timeout", ui.ReadyWait, "how long to wait until claude is ready and has the prompt (not for the answer); if not given, longer on a busy machine")
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
	return readPrompt(o.promptFile, f.Input(), start)
}

func readPrompt(path string, in io.Reader, start *launch.Start) (err error) {
	if start.Prompt, err = ui.ReadText("prompt file", path, in); err != nil {
		return err
	}
	return trimPrompt(start, true)
}
