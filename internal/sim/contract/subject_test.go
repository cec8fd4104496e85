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

// eachVersion are the real one and the stand-in, in the newest version, and in make test-all in the oldest.
func eachVersion(*testing.T) []subject {
	version := rig.Version()
	old := version == rig.Oldest
	return []subject{
		{name: "real", version: version, binary: func(t testing.TB) string { return rig.ClaudeBinary(t, version) }, old: old},
		{name: "stand-in", version: version, binary: rig.StandIn, env: []string{"NBS_SIM_CLAUDE=version=" + version}, old: old},
	}
}

// contract is the list of what is asserted. Each clause gets a stage of its own. A start of the real program costs about a
// second of processor time, so some clauses assert more than their name says: hooks an exit by TERM, bypass warning one by
// HUP and a first prompt that is an unknown command, transcript comes with first one by INT, a conversation that is
// cleared and a tool that is allowed, first prompt by argument an exit by command, and print a session id that is in use.
var contract = map[string]func(*testing.T, *stage){
	"version":                     version,
	"first prompt by argument":    firstPromptByArgument,
	"transcript comes with first": transcriptComesWithFirstPrompt,
	"kill and resume":             killAndResume,
	"resume unknown":              resumeUnknown,
	"file without a conversation": fileWithoutConversation,
	"bad arguments":               badArguments,
	"exit by argument":            exitByArgument,
	"child session forgets":       childSessionForgets,
	"unanswered mark forgets":     unansweredMarkForgets,
	"root may not bypass":         rootMayNotBypass,
	"bypass warning":              bypassWarning,
	"trust dialog":                trustDialog,
	"key dialog":                  keyDialog,
	"not logged in":               notLoggedIn,
	"permission dialog":           permissionDialog,
	"permission hook":             permissionHook,
	"hooks":                       hooks,
	"print":                       print,
	"named":                       named,
	"limits on the status line":   limitsOnStatusLine,
	"stream":                      stream,
	"stream resumed":              streamResumed,
	"stream refused":              streamRefused,
	"stream ended":                streamEnded,
	"stream beside":               streamBeside,
}

func TestContract(t *testing.T) {
	for _, s := range eachVersion(t) {
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
