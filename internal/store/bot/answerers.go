package bot

import (
	"slices"

	"nbs-worker/internal/fail"
)

// Answerers are the users who may answer what agents ask, apart from who may write, and the chats that are told what
// agents need.
type Answerers struct {
	Answers []int64 `json:"answers,omitempty"` // users; empty: no one
	Needs   []int64 `json:"needs,omitempty"`   // chats; empty: those of the users alone with the bot
	Asked   []int64 `json:"asked,omitempty"`   // users about whom the person was asked
}

// With returns what the given flags say in place of what was kept.
func (a Answerers) With(flags Answerers, given func(flag string) bool) Answerers {
	if given("answers") {
		a.Answers = flags.Answers
	}
	if given("needs") {
		a.Needs = flags.Needs
	}
	return a
}

// Told returns the chats that are told what agents need. A private chat has the number of its user.
func (a Answerers) Told() []int64 {
	if len(a.Needs) > 0 {
		return a.Needs
	}
	return a.Answers
}

// Check checks that the chats that are told are served, and may know of the agents. Errors: BadInput.
func (a Answerers) Check(chats []int64, who Writers, reach Reach) error {
	const setup = "nbs-worker serve setup telegram"
	for _, user := range a.Answers {
		if user <= 0 {
			return fail.Errorf(fail.BadInput, "%d names no user who could answer what agents ask", user).Hint("give the number of a user, which serve prints")
		}
	}
	for _, chat := range a.Told() {
		switch {
		case !slices.Contains(chats, chat) && !slices.Contains(who.Users, chat):
			return fail.Errorf(fail.BadInput, "chat %d is to be told what agents need, and is not served", chat).Hint("name the chat too: %s --chat %d", setup, chat)
		case reach == ReachNone:
			return fail.Errorf(fail.BadInput, "chat %d is to be told what agents need, and may not know of the agents", chat).Hint("%s --agents private", setup)
		case chat < 0 && reach != ReachAll:
			return fail.Errorf(fail.BadInput, "the group %d is to be told what agents need, and may not know of the agents", chat).Hint("%s --agents all", setup)
		}
	}
	return nil
}

// Words says who may answer, and which chats are told, a line for each; none if no one and no chat is.
func (a Answerers) Words() (lines []string) {
	if len(a.Answers) > 0 {
		lines = append(lines, "what agents ask may be answered by user "+Numbers(a.Answers))
	}
	if told := a.Told(); len(told) > 0 {
		lines = append(lines, "what agents need is told in chat "+Numbers(told))
	}
	return lines
}
