package services

import (
	"os"
	"slices"
	"strings"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/matrix"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/progress"
)

// MatrixOptions are the options of the bridge to Matrix.
type MatrixOptions struct {
	Homeserver string // its address
	TokenFile  string // "": the token is in the environment, or there is no bridge

	Rooms       []string
	Users       []string // who may write in those, and in a room with the bot alone; empty: all members
	Answers     []string // the users who may answer what agents ask; empty: no one
	Needs       []string // rooms that are told what agents need
	Agents      string   // where the commands that reach agents and files work: a bot.Reach
	AllInGroups bool     // take all messages of groups, not only those for the bot
}

// CheckChat checks the key of a chat. Errors: BadInput.
func CheckChat(key string) (err error) {
	if strings.HasPrefix(key, matrix.Name+":") {
		_, err = matrix.ParseKey(key)
	} else {
		_, err = telegram.ParseKey(key)
	}
	return err
}

// takeToken reads the token, and removes it from the environment. is reports whether a bridge is wanted.
func (o *MatrixOptions) takeToken() (token matrix.Token, is bool, err error) {
	given := o.TokenFile != "" || os.Getenv(matrix.TokenVariable) != ""
	if !given && o.Homeserver == "" && len(o.Rooms)+len(o.Users)+len(o.Answers)+len(o.Needs) == 0 {
		return token, false, nil
	}
	if err := o.check(); err != nil {
		return token, false, err
	}
	if token, err = matrix.ReadToken(o.TokenFile); err != nil {
		return token, false, err
	}
	return token, true, os.Unsetenv(matrix.TokenVariable)
}

func (o *MatrixOptions) check() error {
	for _, room := range o.Rooms {
		if !matrix.IsRoom(room) {
			return fail.Errorf(fail.BadInput, "--matrix-room %s is not the ID of a room, such as !abc:example.org", human.Quote(room)).Hint("the settings of a room show its ID, under Advanced")
		}
	}
	for _, user := range o.Users {
		if !matrix.IsUser(user) {
			return fail.Errorf(fail.BadInput, "--matrix-user %s is not the ID of a user, such as @ann:example.org", human.Quote(user))
		}
	}
	for _, user := range o.Answers {
		if !matrix.IsUser(user) {
			return fail.Errorf(fail.BadInput, "--matrix-answers %s is not the ID of a user, such as @ann:example.org", human.Quote(user))
		}
	}
	for _, room := range o.Needs {
		if !slices.Contains(o.Rooms, room) {
			return fail.Errorf(fail.BadInput, "--matrix-needs %s is not a room that is served", human.Quote(room)).Hint("name the room too: --matrix-room")
		}
	}
	if len(o.Needs) > 0 && o.Agents == string(bot.ReachNone) {
		return fail.Errorf(fail.BadInput, "--matrix-needs: the rooms may not know of the agents").Hint("--matrix-agents private, or all")
	}
	if o.Homeserver == "" {
		return fail.Errorf(fail.BadInput, "a token, a room or a user of Matrix is given, and no --matrix-homeserver").Hint("for example: --matrix-homeserver https://matrix.example.org")
	}
	if _, err := bot.ParseReach(o.Agents); err != nil {
		return fail.Errorf(fail.BadInput, "--matrix-agents: %w", err)
	}
	return matrix.CheckHomeserver(o.Homeserver)
}

// words says what the rooms reach, who may answer, and which rooms are told, a line for each.
func (o *MatrixOptions) words() []string {
	lines := []string{"in Matrix, " + bot.Reach(o.Agents).String()}
	if len(o.Answers) > 0 {
		lines = append(lines, "in Matrix, what agents ask may be answered by "+human.And(o.Answers))
	}
	if len(o.Needs) > 0 {
		lines = append(lines, "in Matrix, what agents need is told in "+human.And(o.Needs))
	}
	return lines
}

// link returns the options of the bridge to Matrix, which goes on where an earlier one was.
func (o *MatrixOptions) link(token matrix.Token, kept *progress.Drawer, say func(line string)) (bridge.Options, error) {
	past, err := kept.Get()
	if err != nil {
		return bridge.Options{}, err
	}
	system, err := matrix.New(matrix.Options{
		Homeserver: o.Homeserver, Token: token, Rooms: o.Rooms, Users: o.Users, Log: say, Past: matrix.Progress(past), Answered: deliveries.Kept,
		Keep: func(p matrix.Progress) error { return kept.Put(progress.Progress(p)) },
	})
	return bridge.Options{
		System: system, Allowed: o.Rooms, Users: o.Users, InPrivate: bot.Reach(o.Agents) != bot.ReachNone, InGroups: bot.Reach(o.Agents) == bot.ReachAll,
		AllInGroups: o.AllInGroups, Answers: o.Answers, Log: say,
	}, err
}
