package security

import "testing"

// An agent answers for no agent, whatever its mode: not for a colleague, and not for itself.
func TestSecurityAgentAnswersForNoAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "beta")
	m.OK("spawn", "gamma", "--root", m.OtherProject(), "--cwd", m.World.Project, "--model", "sonnet")
	m.OK("spawn", "alpha", "--model", "sonnet")
	const why = "to answer for an agent needs --may-manage"
	m.mustDeny("alpha", map[string]string{
		"nbs-worker approve beta":                         why,
		"nbs-worker approve alpha":                        why,
		"nbs-worker approve beta 00000000 --always":       why,
		"nbs-worker deny beta --message no":               why,
		"nbs-worker answer alpha 1":                       why,
		"NBS_HANDLE=beta nbs-worker approve alpha":        why,
		"nbs-worker approve x --root " + m.OtherProject(): why,
		"nbs-worker requests --root " + m.OtherProject():  "it belongs to another project",
	})
}
