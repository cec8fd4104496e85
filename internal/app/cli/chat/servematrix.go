package chat

import (
	"github.com/spf13/pflag"

	"nbs-worker/internal/app/services"
	"nbs-worker/internal/store/bot"
)

func bindMatrix(flags *pflag.FlagSet, o *services.MatrixOptions) {
	flags.StringVar(&o.Homeserver, "matrix-homeserver", "", "address of the homeserver of the bot's account: https://HOST (nbs-worker help matrix)")
	flags.StringVar(&o.TokenFile, "matrix-token-file", "", "file with the access token of the bot's account (or in $NBS_MATRIX_TOKEN)")
	flags.StringArrayVar(&o.Rooms, "matrix-room", nil, "ID of a room to serve; repeatable")
	flags.StringArrayVar(&o.Users, "matrix-user", nil, "ID of a user to serve, also in a room with the bot alone (default: everyone in the rooms); repeatable")
	flags.BoolVar(&o.AllInGroups, "matrix-group-all", false, "take all messages of rooms with several people, not only those for the bot")
	flags.StringArrayVar(&o.Answers, "matrix-answers", nil, "ID of a user who may answer what agents ask (default: no one); repeatable")
	flags.StringArrayVar(&o.Needs, "matrix-needs", nil, "ID of a room that is told what agents need; repeatable")
	flags.StringVar(&o.Agents, "matrix-agents", string(bot.ReachNone), "rooms in which /file, /agents, /send and /resume work: none, private (one user is alone with the bot) or all")
}
