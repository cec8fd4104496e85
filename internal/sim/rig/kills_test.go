package rig

import (
	"slices"
	"testing"
)

func TestShareOfThePoints(t *testing.T) {
	t.Setenv(shareVariable, "")
	t.Setenv(seedVariable, "")
	few := chosen(t, 95)
	Check(t, len(few) == 10 && slices.IsSorted(few) && few[0] >= 1 && few[9] <= 95, "%v", few)
	Check(t, slices.Equal(few, chosen(t, 95)), "they are others the next time")
	Check(t, len(chosen(t, 3)) == 1 && len(chosen(t, 0)) == 0, "%v, %v", chosen(t, 3), chosen(t, 0))
	t.Setenv(seedVariable, "2")
	Check(t, !slices.Equal(few, chosen(t, 95)), "another seed chooses the same points")
	t.Setenv(shareVariable, "100")
	all := chosen(t, 95)
	Check(t, len(all) == 95 && all[0] == 1 && all[94] == 95 && len(slices.Compact(all)) == 95, "%v", all)
}

// A thread's calls are counted by name, and a call that was written in two parts once.
func TestMostCallsOfAThread(t *testing.T) {
	t.Parallel()
	log := `10 renameat(AT_FDCWD, "a", AT_FDCWD, "b") = 0
10 unlinkat(AT_FDCWD, "a", 0 <unfinished ...>
11 renameat(AT_FDCWD, "c", AT_FDCWD, "d") = 0
10 <... unlinkat resumed>) = 0
10 renameat(AT_FDCWD, "b", AT_FDCWD, "c") = 0
11 +++ exited with 0 +++
10 +++ exited with 0 +++
`
	Equal(t, most(log), 2, "calls")
}
