package chat

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
)

func newTellCmd(f *ui.Factory) *cobra.Command {
	notice, limit := false, tellLimit
	cmd := &cobra.Command{
		Use:   "tell <chat> [TEXT | -]",
		Short: "Write to a chat",
		Long: ui.WithCodes(`Sends a text to the Telegram chat telegram:ID, to its topic telegram:ID/TOPIC, or to the Matrix room
matrix:!ROOM, and returns when the chat has it. nbs-worker serve must run as the bridge for this
project. Without TEXT, or with -, the text is read from stdin. A text from an agent names the
agent. Claude gets it as context of the chat's next text.

With --notice, stdin is the JSON that nbs-worker watch gives its notify program, and the chat
gets it in words: nbs-worker help policy.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Unfit, fail.Held, fail.Interrupted),
		Example: `  nbs-worker tell telegram:123456789 'The build is done.'
  nbs-worker tell telegram:123456789 - <REPORT.md`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 || notice && len(args) > 1 {
				return fail.Errorf(fail.BadInput, "tell: a chat and one text are needed").Hint("nbs-worker tell telegram:123456789 'TEXT'")
			}
			if limit <= 0 {
				return fail.Errorf(fail.BadInput, "tell: --timeout %s must be more than 0", limit)
			}
			return services.CheckChat(args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), limit)
			defer cancel()
			return ui.Failed(runTell(ctx, f, args[0], append(args[1:], "-")[0], notice), "tell", args[0])
		},
	}
	cmd.Flags().BoolVar(&notice, "notice", false, "stdin is the JSON that watch gives its notify program")
	cmd.Flags().DurationVar(&limit, "timeout", tellLimit, "give up after this time")
	return cmd
}

// tellLimit is how long to wait for a chat: the bridge retries while its system is unreachable.
const tellLimit = 10 * time.Minute

func runTell(ctx context.Context, f *ui.Factory, to, text string, notice bool) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	if text == "-" {
		if text, err = ui.ReadText("the text from", "-", f.Input()); err != nil {
			return err
		}
	}
	if notice {
		if text, err = noticeWords(text); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" {
		return fail.Errorf(fail.BadInput, "the text is empty")
	}
	if err := agent.CheckText("the text", text); err != nil {
		return err
	}
	from, err := s.Caller.Envelope("", false)
	if err != nil {
		return err
	}
	for _, part := range signedParts(from, text) {
		if err := client.Tell(ctx, s.Project.Store, to, part); err != nil {
			return err
		}
	}
	return nil
}

// signedParts splits a text into messages, each with the envelope of the sending agent. If the chat split it, later
// parts would look like the bot's own text. A person's text is not split.
func signedParts(from, text string) (parts []string) {
	if from == "" {
		return []string{text}
	}
	const longest = 3000 // characters; a chat takes 4,096, and a character of the envelope may count twice
	for rest := []rune(text); len(rest) > 0; {
		end := min(len(rest), longest)
		parts = append(parts, from+"\n"+string(rest[:end]))
		rest = rest[end:]
	}
	return parts
}

// noticeWords formats the notice of a watch.
func noticeWords(text string) (string, error) {
	var n wire.Notice
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&n); err != nil || n.Event == "" {
		return "", fail.Errorf(fail.BadInput, "stdin is not a report of nbs-worker watch")
	}
	words := string(n.Event)
	name := string(n.Handle) // "": it is not about a single agent
	if n.Host != "" {
		name = strings.TrimPrefix(name+"@"+n.Host, "@")
	}
	if name != "" {
		words = name + ": " + words
	}
	if n.Detail != "" {
		words += ": " + n.Detail
	}
	return words, nil
}
