package cli

import (
	"strings"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/matrix"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// A chat that is refused something is told the command by which the owner of its bot can allow it: the command has the flag.
func TestTheFlagsThatABotNamesExist(t *testing.T) {
	t.Parallel()
	token, err := telegram.ParseToken(sim.Token)
	rig.Must(t, err)
	inTelegram, err := telegram.New(telegram.Options{Token: token})
	rig.Must(t, err)
	inMatrix, err := matrix.New(matrix.Options{Homeserver: "https://matrix.example.org"})
	rig.Must(t, err)
	for system, flags := range map[bridge.System][]string{
		inTelegram: {"nbs-worker serve setup telegram", "--agents", "--transcribe-cmd"},
		inMatrix:   {"nbs-worker serve", "--matrix-agents", "--transcribe-cmd"},
	} {
		traits := system.Traits()
		rig.Same(t, "the flags that are named", flags, []string{traits.Command, "--" + traits.Before + "agents", "--transcribe-cmd"})
		help := run(append([]string{"help"}, strings.Fields(traits.Command)[1:]...)...).out
		for _, flag := range flags[1:] {
			rig.Check(t, strings.Contains(help, flag+" "), "%s has no flag %s", traits.Command, flag)
		}
	}
}
