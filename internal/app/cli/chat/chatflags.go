package chat

import (
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/team/supervisor"
)

// chatFlags are the flags about how the chats of a bot are served. serve takes them for its run, and serve setup keeps
// them in the bot's file.
type chatFlags struct {
	bot.Settings

	promptFile string
	model      string
	silence    turnTimeout
	rights     rightsFlags

	before string // "telegram-" or "", before the flags that only a bridge has
	cmd    *cobra.Command
}

// bind defines the flags.
func (c *chatFlags) bind(cmd *cobra.Command, before string) {
	c.cmd, c.before = cmd, before
	flags := cmd.Flags()
	flags.StringVar(&c.SystemPrompt, "system-prompt", "", "system prompt of new and reset chats")
	flags.StringVar(&c.promptFile, "system-prompt-file", "", "read the system prompt from this file")
	flags.StringVar(&c.model, "model", "", "model of new and reset chats; who may write there may choose another one")
	flags.BoolVar(&c.Enrich, "enrich", false, "give Claude the time, the project and what is remembered that fits a text of a chat")
	flags.StringVar(&c.ContextCmd, "context-cmd", "", "program whose output Claude gets with each text of a chat")
	flags.Float64Var(&c.DailyLimit, "daily-limit", 0, "begin no turn of a chat on a day on which it has cost this many US dollars; what runs is not stopped; 0: no limit")
	flags.StringVar(&c.TranscribeCmd, "transcribe-cmd", "", "program that gets the path of a voice message and prints its words")
	flags.BoolVar(&c.GroupAll, before+"group-all", false, "take all messages of groups, not only those for the bot")
	c.silence.bind(cmd, "end a turn of a chat if claude gives no sign of life for this time while no tool runs; 0: never")
	c.rights.bind(cmd, "in all chats")
	cmd.MarkFlagsMutuallyExclusive("system-prompt", "system-prompt-file")
}

// given reports whether a flag was given.
func (c *chatFlags) given(flag string) bool {
	return c.cmd.Flags().Changed(flag) || c.before != "" && c.cmd.Flags().Changed(c.before+flag)
}

// parse checks what the flags say. Errors: BadInput, NotFound.
func (c *chatFlags) parse(f *ui.Factory, s *supervisor.Supervisor) (bot.Settings, error) {
	var err error
	if c.DailyLimit < 0 {
		return c.Settings, fail.Errorf(fail.BadInput, "--daily-limit %g is negative", c.DailyLimit).Hint("0: no limit")
	}
	if c.promptFile != "" {
		if c.SystemPrompt, err = f.ReadFile(s, "system prompt", "--system-prompt-file", c.promptFile); err != nil {
			return c.Settings, err
		}
	}
	if c.model != "" {
		if c.Model, err = agent.ChooseModel(c.model); err != nil {
			return c.Settings, err
		}
	}
	for flag, path := range map[string]*string{"--context-cmd": &c.ContextCmd, "--transcribe-cmd": &c.TranscribeCmd} {
		if *path != "" {
			if *path, err = program(flag, *path); err != nil {
				return c.Settings, err
			}
		}
	}
	c.Silence, err = c.silence.silence()
	return c.Settings, err
}
