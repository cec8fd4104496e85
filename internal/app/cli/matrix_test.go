package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// What is wrong with the flags of Matrix is said before anything runs.
func TestServeChecksWhatItIsToldOfMatrix(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	token := filepath.Join(t.TempDir(), "token")
	rig.Must(t, os.WriteFile(token, []byte("syt_token\n"), 0o600))
	serve := func(args ...string) ran { return run(append([]string{"--root", project, "serve"}, args...)...) }
	at := "--matrix-homeserver=https://matrix.example.org"
	serve("--matrix-room", "!home:localhost").want(t, fail.BadInput, "no --matrix-homeserver")
	serve("--matrix-room", "#home:localhost", at).want(t, fail.BadInput, `"#home:localhost" is not the ID of a room`)
	serve("--matrix-room", "!"+strings.Repeat("x", 140)+":localhost", at).want(t, fail.BadInput, "is not the ID of a room")
	serve("--matrix-user", "ann", at).want(t, fail.BadInput, `"ann" is not the ID of a user`)
	serve("--matrix-answers", "ann", at).want(t, fail.BadInput, `--matrix-answers "ann" is not the ID of a user`)
	serve("--matrix-needs", "!home:localhost", at).want(t, fail.BadInput, "is not a room that is served", "name the room too")
	serve("--matrix-needs", "!home:localhost", "--matrix-room", "!home:localhost", at).want(t, fail.BadInput, "the rooms may not know of the agents", "--matrix-agents private")
	serve("--matrix-needs", "!home:localhost").want(t, fail.BadInput, "is not a room that is served")
	serve("--matrix-homeserver", "http://matrix.example.org").want(t, fail.BadInput, "does not begin with https://, so others could read the access token")
	serve("--matrix-homeserver", "example.org").want(t, fail.BadInput, "is no address of a homeserver")
	serve(at).want(t, fail.NotFound, "variable NBS_MATRIX_TOKEN is empty")
	rig.Must(t, os.Chmod(token, 0o644))
	serve(at, "--matrix-token-file", token).want(t, fail.BadInput, "other users can read or write", "chmod 600")
	rig.Must(t, os.WriteFile(filepath.Join(project, "empty"), nil, 0o600))
	serve(at, "--matrix-token-file", filepath.Join(project, "empty")).want(t, fail.NotFound, "is empty", "--matrix-token-file")
}

// The flag of earlier versions does not open the groups that the present one closes.
func TestWhatReachesAgentsIsSaidOnce(t *testing.T) {
	t.Parallel()
	run("--root", newProject(t), "serve", "--telegram-group-commands", "--telegram-agents=none").want(t, fail.BadInput, "telegram-agents")
	run("--root", newProject(t), "serve", "setup", "telegram", "--group-commands", "--agents=private").want(t, fail.BadInput, "agents")
}

// tell knows the chats of each system by their keys.
func TestTellTakesARoom(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	run("--root", project, "tell", "matrix:home", "Hello").want(t, fail.BadInput, `"matrix:home" is not the conversation of a Matrix room`)
	run("--root", project, "tell", "matrix:!home:localhost/$x", "Hello").want(t, fail.Unfit, "no bridge to chats is running")
}
