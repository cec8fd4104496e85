package telegram

import (
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestTheKeyOfAPlace(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bridge.Place{
		"telegram:7": {Chat: "7"}, "telegram:-1001234/5": {Chat: "-1001234", Topic: "5"},
	} {
		got, err := ParseKey(key)
		rig.Check(t, err == nil && got == want, "%s: %+v, %v", key, got, err)
	}
	for _, key := range []string{"", "7", "telegram:", "telegram:x", "telegram:7/", "telegram:7/0", "telegram:07", "telegram:+7", "telegram:7/5/6", "mail:7"} {
		_, err := ParseKey(key)
		rig.Equal(t, fail.KindOf(err), fail.BadInput, "%s", key)
	}
}
