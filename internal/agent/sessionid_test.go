package agent_test

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

const lowerID = "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"

func TestParseSessionIDGivesLowerCase(t *testing.T) {
	t.Parallel()
	for _, given := range []string{lowerID, "4F0C2A53-0D0C-4B43-9E0A-2F6B8F5C9A11", "4F0c2a53-0d0c-4b43-9e0a-2f6b8f5C9A11"} {
		id, err := agent.ParseSessionID(given)
		rig.Check(t, err == nil && id == lowerID, "ParseSessionID(%q) = %q, %v; want %s", given, id, err, lowerID)
	}
}

func TestParseSessionIDRefuses(t *testing.T) {
	t.Parallel()
	for _, given := range []string{
		"", "not-a-uuid", "{" + lowerID + "}", "urn:uuid:" + lowerID,
		"4f0c2a530d0c4b439e0a2f6b8f5c9a11", lowerID[:35], lowerID + "1", lowerID + "\n", " " + lowerID,
		"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a1g", "4f0c2a53_0d0c_4b43_9e0a_2f6b8f5c9a11",
		"x; rm -rf ~; 4b43-9e0a-2f6b8f5c9a11x", "--dangerously-skip-permissions------",
	} {
		id, err := agent.ParseSessionID(given)
		rig.Check(t, id == "" && fail.KindOf(err) == fail.BadInput, "ParseSessionID(%q) = %q, %v; want bad input", given, id, err)
	}
}

func TestNewIDsAreCanonicalAndDiffer(t *testing.T) {
	t.Parallel()
	a, b := agent.NewSessionID(), agent.NewSessionID()
	rig.Check(t, a != b, "two new ids are equal: %s", a)
	parsed, err := agent.ParseSessionID(string(a))
	rig.Check(t, err == nil && parsed == a, "the new id %q is not canonical: %v", a, err)
	c, d := agent.NewInvocation(), agent.NewInvocation()
	rig.Check(t, c != d && c != "", "two invocations are %q and %q", c, d)
}
