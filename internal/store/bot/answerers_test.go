package bot

import (
	"slices"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// No one may answer unless that is said, and only chats that are served and may know of the agents are told.
func TestWhoMayAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what  string
		who   Answerers
		reach Reach
		kind  fail.Kind
		told  []int64
	}{
		{"no one", Answerers{}, ReachNone, 0, nil},
		{"a user alone with the bot", Answerers{Answers: []int64{1}}, ReachPrivate, 0, []int64{1}},
		{"a user of all chats", Answerers{Answers: []int64{2}}, ReachPrivate, 0, []int64{2}},
		{"a group", Answerers{Answers: []int64{1}, Needs: []int64{-5}}, ReachAll, 0, []int64{-5}},
		{"a group that may not know of agents", Answerers{Answers: []int64{1}, Needs: []int64{-5}}, ReachPrivate, fail.BadInput, []int64{-5}},
		{"a chat that may not know of agents", Answerers{Answers: []int64{1}}, ReachNone, fail.BadInput, []int64{1}},
		{"a user who is not served", Answerers{Answers: []int64{3}}, ReachAll, fail.BadInput, []int64{3}},
		{"a group as a user", Answerers{Answers: []int64{-5}}, ReachAll, fail.BadInput, []int64{-5}},
	} {
		err := test.who.Check([]int64{1, -5}, Writers{Users: []int64{2}}, test.reach)
		rig.Check(t, (err == nil) == (test.kind == 0) && (err == nil || fail.KindOf(err) == test.kind), "%s: %v", test.what, err)
		rig.Check(t, slices.Equal(test.who.Told(), test.told), "%s: told is %v", test.what, test.who.Told())
	}
	kept := Answerers{Answers: []int64{1}, Needs: []int64{-5}}
	given := kept.With(Answerers{Answers: []int64{2}}, func(flag string) bool { return flag == "answers" })
	rig.Same(t, "what flags change", Answerers{Answers: []int64{2}, Needs: []int64{-5}}, given)
}
