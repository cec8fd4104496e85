package bot

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// Writers are the users who may write to Claude in the chats that are served.
type Writers struct {
	Users   []int64           `json:"users,omitempty"`    // in each chat that does not say, and alone with the bot; empty: everyone there
	UsersIn map[int64][]int64 `json:"users_in,omitempty"` // in one chat; empty: everyone there
}

// In returns the users who may write in a chat; empty: everyone there.
func (w Writers) In(chat int64) []int64 {
	if own, is := w.UsersIn[chat]; is {
		return own
	}
	return w.Users
}

// Replaced returns what flags say in place of what was kept: of the chats that they name, or of all.
func (w Writers) Replaced(flags Writers) Writers {
	if flags.Users != nil {
		return flags
	}
	return Writers{w.Users, merged(w.UsersIn, flags.UsersIn)}
}

// Only sets the users who may write in a chat; none: everyone there.
func (w Writers) Only(chat int64, users ...int64) Writers {
	return Writers{w.Users, merged(w.UsersIn, map[int64][]int64{chat: users})}
}

func merged(a, b map[int64][]int64) map[int64][]int64 {
	if len(a)+len(b) == 0 {
		return nil
	}
	both := map[int64][]int64{}
	maps.Copy(both, a)
	maps.Copy(both, b)
	return both
}

// CheckServed checks that all chats that are named are served. Errors: BadInput.
func (w Writers) CheckServed(chats []int64) error {
	for chat := range w.UsersIn {
		if !slices.Contains(chats, chat) {
			return fail.Errorf(fail.BadInput, "users are named for chat %d, which is not served", chat).Hint("name the chat too")
		}
	}
	return nil
}

// Who says who may write in which chats.
func (w Writers) Who(chats []int64) string {
	var order []string
	in := map[string][]int64{}
	for _, chat := range chats {
		who := "everyone"
		if users := w.In(chat); len(users) > 0 {
			who = "the users " + Numbers(users)
		}
		if in[who] == nil {
			order = append(order, who)
		}
		in[who] = append(in[who], chat)
	}
	return strings.Join(agent.Mapped(order, func(who string) string {
		if len(in[who]) == 1 {
			return who + " in the chat " + Numbers(in[who])
		}
		return who + " in the chats " + Numbers(in[who])
	}), "; ")
}

// Numbers lists numbers for a person.
func Numbers(all []int64) string {
	return strings.Join(agent.Mapped(all, func(n int64) string { return strconv.FormatInt(n, 10) }), ", ")
}

// Reach is where the commands of a chat work that reach agents and files of the project: /file, /agents, /send, /resume.
type Reach string

// Where they work.
const (
	ReachNone    Reach = "none"
	ReachPrivate Reach = "private" // in chats with one user
	ReachAll     Reach = "all"
)

// ParseReach reads where the commands work. Errors: BadInput.
func ParseReach(text string) (Reach, error) {
	switch r := Reach(text); r {
	case ReachNone, ReachPrivate, ReachAll:
		return r, nil
	}
	return "", fail.Errorf(fail.BadInput, "%q is not none, private or all: the chats in which /file, /agents, /send and /resume work", text)
}

// String says for a person where they work.
func (r Reach) String() string {
	switch r {
	case ReachPrivate:
		return "/file, /agents, /send and /resume work in private chats"
	case ReachAll:
		return "/file, /agents, /send and /resume work in all chats"
	case ReachNone:
	}
	return "/file, /agents, /send and /resume are off"
}
