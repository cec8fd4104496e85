package chat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/bot"
)

// whoFlags are the flags about who may write in the chats of a bot, and what they reach.
type whoFlags struct {
	users    []string
	agents   string
	answers  bot.Answerers
	everyone bool // the flag of earlier versions
}

// bind defines the flags, with their names after before.
func (w *whoFlags) bind(cmd *cobra.Command, before string) {
	flags := cmd.Flags()
	flags.StringSliceVar(&w.users, before+"user", nil, "user who may write: USER in all chats and alone with the bot, CHAT:USER in a group, CHAT:everyone (default: everyone in the chats); repeatable")
	flags.StringVar(&w.agents, before+"agents", string(bot.ReachNone), "chats in which /file, /agents, /send and /resume work: none, private or all")
	flags.Int64SliceVar(&w.answers.Answers, before+"answers", nil, "user who may answer what agents ask: permissions and questions (default: no one); repeatable")
	flags.Int64SliceVar(&w.answers.Needs, before+"needs", nil, "chat that is told what agents need (default: each user of --"+before+"answers, alone with the bot); repeatable")
	flags.BoolVar(&w.everyone, before+"group-commands", false, "")
	_ = flags.MarkDeprecated(before+"group-commands", "use --"+before+"agents all")
	cmd.MarkFlagsMutuallyExclusive(before+"agents", before+"group-commands")
}

// shared are the users that Telegram shows for everyone who writes as a group or as a channel, and for itself.
var shared = []int64{1087968824, 136817688, 777000}

// parse reads who may write. Users is nil if no flag names users for all chats. Errors: BadInput.
func (w *whoFlags) parse() (who bot.Writers, reach bot.Reach, err error) {
	for _, given := range w.users {
		chat, user, ofChat := strings.Cut(given, ":")
		if !ofChat {
			chat, user = "0", given
		}
		in, err := strconv.ParseInt(chat, 10, 64)
		if err != nil || ofChat && in >= 0 {
			return who, "", fail.Errorf(fail.BadInput, "%s names no group", human.Quote(given)).Hint("the number of a group is negative: -100123:45").
				Hint("the users of all chats: a number alone")
		}
		users := []int64{}
		if user != everyone {
			number, err := strconv.ParseInt(user, 10, 64)
			switch {
			case err != nil || number <= 0:
				return who, "", fail.Errorf(fail.BadInput, "%s names no user", human.Quote(given)).Hint("give the number of a user, which serve prints, or: " + everyone)
			case slices.Contains(shared, number):
				return who, "", fail.Errorf(fail.BadInput, "user %d is no person: Telegram shows it for everyone who writes without their name", number)
			}
			users = append(users, number)
		}
		if ofChat {
			if who.UsersIn == nil {
				who.UsersIn = map[int64][]int64{}
			}
			who.UsersIn[in] = append(who.UsersIn[in], users...)
		} else {
			who.Users = append(who.Users, users...)
			if who.Users == nil {
				who.Users = users
			}
		}
	}
	if w.everyone {
		return who, bot.ReachAll, nil
	}
	reach, err = bot.ParseReach(w.agents)
	return who, reach, err
}

// everyone stands for all users of a chat.
const everyone = "everyone"
