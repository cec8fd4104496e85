package cmdline

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// What a command line was made from is what is read back from it; a prompt is never
// taken for a value.
func FuzzReadArgs(f *testing.F) {
	f.Add("opus[1m]", "--model haiku", "--model\x00haiku")
	f.Add("", "-d", "--session-id\x00--")
	f.Add("sonnet", "", "claude\x00-r"+string(sessionID)+"\x00--model=haiku")
	f.Fuzz(func(t *testing.T, model, prompt, other string) {
		r := agent.Spec{SessionID: sessionID, Model: agent.Model(model)}
		if _, err := agent.ParseModel(model); err == nil && !strings.Contains(prompt, "\x00") {
			for _, opening := range []Opening{OpenNew, OpenResume} {
				got, known := ReadArgs(append([]string{"claude"}, Args(&r, opening, prompt, `{"hooks":{}}`)...))
				want := Recorded{SessionID: string(sessionID), Model: model, PermissionMode: string(agent.BypassPermissions)}
				rig.Check(t, got == want && known, "%+v, %t; want %+v", got, known, want)
			}
		}
		foreign := strings.Split(other, "\x00")
		got, known := ReadArgs(foreign)
		rig.Check(t, (known || got == (Recorded{})) && (!known || len(foreign) >= 2), "%q: %+v, %t", foreign, got, known)
		rig.Check(t, !RunsOn(foreign, sessionID) || strings.Contains(other, string(sessionID)), "%q runs on it", foreign)
	})
}
