package bridge_test

import (
	"context"
	"strconv"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/telegram"
)

// The tests run a bridge with Telegram, against its simulator.
type (
	Answer       = bridge.Answer
	Bridge       = bridge.Bridge
	Choice       = bridge.Choice
	Edit         = bridge.Edit
	File         = bridge.File
	Incoming     = bridge.Incoming
	Interruption = bridge.Interruption
	Move         = bridge.Move
	Progress     = bridge.Progress
	Shown        = bridge.Shown
	Unfinished   = bridge.Unfinished
)

const (
	EditIgnored  = bridge.EditIgnored
	EditTaken    = bridge.EditTaken
	EditLate     = bridge.EditLate
	PerhapsAgain = bridge.PerhapsAgain
)

// Options are those of a bridge and of its system.
type Options struct {
	Token          string
	Allowed, Users []int64
	UsersIn        map[int64][]int64
	NotInPrivate   bool // the commands that reach agents are off there
	InGroups       bool
	Answers        []int64
	AllInGroups    bool
	Chats          bridge.Chats
	Deliveries     bridge.Deliveries
	Menu           bridge.Menu
	Team           bridge.Team
	Log            func(line string)
	Transcribe     func(ctx context.Context, path string) (string, error)
	URL            string
	Poll, Settle   time.Duration
	Pause, Upload  time.Duration
	Grow, InPlace  time.Duration
	Leave          time.Duration
	Location       *time.Location
}

// newBridge returns a bridge to Telegram.
func newBridge(o Options) (*Bridge, error) {
	token, err := telegram.ParseToken(o.Token)
	if err != nil {
		return nil, err
	}
	system, err := telegram.New(telegram.Options{Token: token, URL: o.URL, Poll: o.Poll, Upload: o.Upload, Grow: o.Grow, Log: o.Log})
	if err != nil {
		return nil, err
	}
	numbers := func(list []int64) []string {
		return agent.Mapped(list, func(n int64) string { return strconv.FormatInt(n, 10) })
	}
	usersIn := map[string][]string{}
	for chat, users := range o.UsersIn {
		usersIn[strconv.FormatInt(chat, 10)] = numbers(users)
	}
	return bridge.New(bridge.Options{
		System: system, Allowed: numbers(o.Allowed), Users: numbers(o.Users), UsersIn: usersIn, InPrivate: !o.NotInPrivate, InGroups: o.InGroups, Answers: numbers(o.Answers), AllInGroups: o.AllInGroups,
		Chats: o.Chats, Deliveries: o.Deliveries, Menu: o.Menu, Team: o.Team, Log: o.Log, Transcribe: o.Transcribe,
		Settle: o.Settle, Pause: o.Pause, InPlace: o.InPlace, Leave: o.Leave, Location: o.Location,
	}), nil
}

// mostSent is the length of the longest message that a user can send, in UTF-16 code units.
const mostSent = 4096
