package chat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/history"
	"nbs-worker/internal/team/supervisor"
)

func newConversationHistoryCmd(f *ui.Factory) *cobra.Command {
	var asked conversation.Past
	cmd := keyCmd(f, keyVerb{
		use: "history <key>", short: "Show what was said in a conversation",
		long: `Prints the conversation from Claude's transcript, as nbs-worker logs does for an agent. --all
begins with its previous sessions.`,
		example: `  nbs-worker conversation history review -n 20
  nbs-worker conversation history web --json | jq 'select(.who=="agent")'`,
		codes: []fail.Kind{fail.Failed, fail.NotFound, fail.BadInput, fail.Held},
		run: func(_ context.Context, key conversations.Key, _ []string) error {
			if asked.Last < 0 {
				return fail.Errorf(fail.BadInput, "--last %d is negative", asked.Last).Hint("0 shows all")
			}
			return runConversationHistory(f, key, asked)
		},
	})
	cmd.Flags().IntVarP(&asked.Last, "last", "n", 0, "only this many messages from the end of each session; 0: all")
	cmd.Flags().BoolVar(&asked.All, "all", false, "also the previous sessions")
	cmd.Flags().BoolVar(&asked.Tools, "tools", false, "also what tools did, and what Claude was told in addition to the texts")
	return cmd
}

func runConversationHistory(f *ui.Factory, key conversations.Key, asked conversation.Past) error {
	e, key, err := conversing(f, key)
	if err != nil {
		return err
	}
	return e.History(key, asked, func(s conversation.PastSession) error {
		if !asked.All && !s.Gone {
			return nil
		}
		return f.PrintLogSession(history.LogSession(s))
	}, f.PrintSaid)
}

func newConversationImportCmd(f *ui.Factory) *cobra.Command {
	var key, prefix string
	cmd := &cobra.Command{
		Use:   "import {FOLDER | FILE}",
		Short: "Import the sessions of other chat bridges",
		Long: ui.WithCodes(`Imports the session ids that other chat bridges have stored; each becomes the session of a
conversation. In a folder, each file is one chat: its name is the chat id, its content the
session id, and the key is --prefix plus the name. A single file, such as session_id.txt, is
imported as the conversation --key. A conversation that already has another session is refused
and left unchanged. import says if Claude has no transcript of a session.`,
			fail.Failed, fail.NotFound, fail.BadInput, fail.Conflict, fail.Partial, fail.Held),
		Example: `  nbs-worker conversation import ~/sessions
  nbs-worker conversation import data/session_id.txt --key telegram:1234`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail.Errorf(fail.BadInput, "conversation import: a folder or a file is needed").Hint("nbs-worker conversation import --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return ui.Failed(runConversationImport(cmd.Context(), f, args[0], key, prefix), "conversation import", args[0])
		},
	}
	cmd.Flags().StringVar(&key, "key", "main", "key of the conversation, for a file")
	cmd.Flags().StringVar(&prefix, "prefix", "telegram:", "prefix of the keys, for a folder")
	return f.WithJSON(cmd)
}

// stored is a session ID in a file of another program.
type stored struct {
	key    conversations.Key
	id     agent.SessionID
	file   string
	unread error // why no session could be read from the file
}

func runConversationImport(ctx context.Context, f *ui.Factory, path, key, prefix string) error {
	s, err := f.NewProject()
	if err != nil {
		return err
	}
	found, err := readStored(path, key, prefix)
	if err != nil {
		return err
	}
	imported, sum := []wire.Conversation{}, ui.Partial{Of: len(found)}
	for _, one := range found {
		c, err := importOne(f, ctx, s, one)
		if err = ui.Failed(err, "conversation import", one.file); err != nil {
			f.PrintError("", err)
			sum.Failures = append(sum.Failures, err)
			continue
		}
		imported = append(imported, c)
	}
	if f.JSON {
		if err := f.PrintJSON(imported); err != nil {
			return err
		}
	}
	return sum.Failed()
}

// importOne imports one session, and prints it; with --json it returns it.
func importOne(f *ui.Factory, ctx context.Context, s *supervisor.Supervisor, one stored) (wire.Conversation, error) {
	if one.unread != nil {
		return wire.Conversation{}, one.unread
	}
	e := conversation.New(s.Project)
	there, err := e.Adopt(ctx, one.key, one.id)
	if err != nil {
		return wire.Conversation{}, err
	}
	if f.JSON {
		return present(e, one.key)
	}
	words := "continues in " + string(one.id)
	if !there {
		words += ", which has no transcript here"
	}
	_, err = fmt.Fprintf(f.Streams.Out, "%s %s\n", one.key, words)
	return wire.Conversation{}, err
}

// readStored reads the session IDs below a path.
func readStored(path, key, prefix string) ([]stored, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fail.Errorf(fail.NotFound, "%w", err)
	}
	if !info.IsDir() {
		one, err := readSession(path, key)
		return []stored{one}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var all []stored
	for _, entry := range entries {
		if !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		one, err := readSession(filepath.Join(path, entry.Name()), prefix+entry.Name())
		one.unread = err // the other files are still imported
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fail.Errorf(fail.NotFound, "no file in it holds a session id")
	}
	slices.SortFunc(all, func(a, b stored) int { return strings.Compare(string(a.key), string(b.key)) })
	return all, nil
}

func readSession(path, key string) (one stored, err error) {
	one.file = path
	if one.key, err = conversations.ParseKey(key); err != nil {
		return one, err
	}
	text, err := ui.ReadText("file", path, nil)
	if err != nil {
		return one, err
	}
	one.id, err = agent.ParseSessionID(strings.ToLower(strings.TrimSpace(text)))
	return one, err
}
