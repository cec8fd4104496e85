package contract

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 10*time.Minute)) }

// subject is a program that claims to be Claude Code.
type subject struct {
	name    string
	version string
	binary  func(testing.TB) string
	env     []string
	old     bool // has the ways of 2.1.197
}

func subjects() []subject {
	real := func(version string) func(testing.TB) string {
		return func(t testing.TB) string { return rig.ClaudeBinary(t, version) }
	}
	return []subject{
		{name: "real-newest", version: rig.Newest, binary: real(rig.Newest)},
		{name: "real-oldest", version: rig.Oldest, binary: real(rig.Oldest), old: true},
		{name: "stand-in", version: rig.Newest, binary: rig.StandIn},
		{name: "stand-in-oldest", version: rig.Oldest, binary: rig.StandIn, env: []string{"NBS_SIM_CLAUDE=version=" + rig.Oldest}, old: true},
	}
}

// contract is the list of what is asserted. Each clause gets a stage of its own. An exit by TERM is part of hooks, one
// by command of the first prompt by argument, and a conversation that is cleared of the transcript that comes with the
// first prompt.
var contract = map[string]func(*testing.T, *stage){
	"version":                     version,
	"help":                        help,
	"first prompt by argument":    firstPromptByArgument,
	"transcript comes with first": transcriptComesWithFirstPrompt,
	"kill and resume":             killAndResume,
	"session id twice":            sessionIDTwice,
	"resume unknown":              resumeUnknown,
	"file without a conversation": fileWithoutConversation,
	"bad arguments":               badArguments,
	"exit by HUP":                 exitBy("HUP", 129),
	"exit by INT":                 exitBy("INT", 0),
	"exit by argument":            exitByArgument,
	"child session forgets":       childSessionForgets,
	"child mark of the server":    childMarkOfTheServer,
	"root may not bypass":         rootMayNotBypass,
	"bypass warning":              bypassWarning,
	"trust dialog":                trustDialog,
	"key dialog":                  keyDialog,
	"not logged in":               notLoggedIn,
	"permission dialog":           permissionDialog,
	"hooks":                       hooks,
	"print":                       print,
	"print fails":                 printFails,
	"unknown command":             unknownCommand,
	"stream":                      stream,
	"stream resumed":              streamResumed,
	"stream fails":                streamFails,
	"stream ended":                streamEnded,
}

func TestContract(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for name, clause := range contract {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					clause(t, newStage(t, s))
				})
			}
		})
	}
}

// stage is a subject in a world of its own, with an API and a tmux server of its own.
type stage struct {
	subject
	world *rig.World
	api   *api.Server
	path  string
	env   []string // of processes, and of the tmux server

	paneEnv []string // given to a pane only, by tmux -e
}

func newStage(t *testing.T, s subject) *stage {
	t.Helper()
	server, err := api.Start(api.Options{})
	rig.Must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	w := rig.NewWorld(t, server.URL())
	return &stage{subject: s, world: w, api: server, path: s.binary(t), env: w.Env(s.env...)}
}
