package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/supervisor"
)

// someNames checks that handles or keys of conversations are named.
func someNames(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return ui.SomeHandles(cmd, args)
	}
	for _, arg := range args {
		if err := checkName(strings.TrimPrefix(arg, "@")); err != nil {
			return ui.Failed(err, "memory "+cmd.Name())
		}
	}
	return nil
}

// withMembers returns the typed handles and keys, and the members of the typed groups. several reports whether the output
// is a list.
func withMembers(s *supervisor.Supervisor, typed []string) (names []agent.Handle, several bool, err error) {
	var o ui.Selection
	for _, arg := range typed {
		if group, is := strings.CutPrefix(arg, "@"); is {
			o.Groups = append(o.Groups, group)
		} else {
			o.Handles = append(o.Handles, agent.Handle(arg))
		}
	}
	names, err = o.Named(s)
	return names, o.Several(), err
}

// checkName checks a handle or a key, as typed. Errors: BadInput.
func checkName(typed string) error {
	_, err := agent.ParseHandle(typed)
	if err == nil {
		return nil
	}
	if _, isKey := conversations.ParseKey(agent.Handle(typed).Name()); isKey != nil {
		return err
	}
	return nil
}

// nameOf returns the name under which the work of an agent or a conversation is remembered. A name that both have is the
// agent's; conversation:KEY is always a conversation. Errors: BadInput; Held when the caller may not see the conversation.
func nameOf(s *supervisor.Supervisor, typed string) (agent.Handle, error) {
	if err := checkName(typed); err != nil {
		return "", err
	}
	key, chosen := agent.Handle(typed).Conversation()
	handle, invalid := agent.ParseHandle(typed)
	if !chosen && invalid == nil {
		if _, err := s.Project.Store.Load(handle); fail.KindOf(err) != fail.NotFound {
			return handle, nil
		}
	}
	full, err := s.Caller.Key(key)
	if err != nil {
		return "", err
	}
	if _, err := s.Project.Store.Conversations().Of(full).State(); errors.Is(err, fs.ErrNotExist) && !chosen && invalid == nil {
		return handle, nil // it may be remembered of a dismissed agent
	}
	return agent.OfConversation(string(full)), nil
}

// sees reports whether the caller may read what is remembered under a name. What is remembered of agents is for all.
func sees(s *supervisor.Supervisor) func(agent.Handle) bool {
	return func(name agent.Handle) bool {
		key, is := name.Conversation()
		return !is || s.Caller.Sees(conversations.Key(key))
	}
}

// switchConversation turns the memory of a conversation on or off.
func switchConversation(ctx context.Context, s *supervisor.Supervisor, key string, on bool) (ui.Outcome, error) {
	if err := s.Caller.CheckPerson("have a conversation observed"); err != nil {
		return ui.Outcome{}, err
	}
	was, err := s.Project.Store.Conversations().Of(conversations.Key(key)).Observe(ctx, on)
	if errors.Is(err, fs.ErrNotExist) {
		err = conversation.ErrNone(conversations.Key(key))
	}
	if err != nil {
		return ui.Outcome{}, err
	}
	changed := wire.Set{Conversation: conversations.Key(key), Changed: []wire.Change{}}
	words := "nothing changed: the values are already set"
	if was != on {
		changed.Changed = append(changed.Changed, wire.Change{Field: "memory", From: onOff(was), To: onOff(on), Takes: wire.Now})
		words = fmt.Sprintf("memory is %s, was %s", onOff(on), onOff(was))
	}
	return ui.Outcome{JSON: changed, Handle: agent.Handle(key), Words: words}, nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// observedChats returns the conversations whose memory is on and which the caller sees.
func observedChats(s *supervisor.Supervisor) []conversations.Key {
	return slices.DeleteFunc(keysOf(s), func(key conversations.Key) bool {
		state, err := s.Project.Store.Conversations().Of(key).State()
		return err != nil || !state.Meta.Memory || !s.Caller.Sees(key)
	})
}
