package trust

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

func keeper(t testing.TB) *Keeper {
	t.Helper()
	return NewKeeper(Home(filepath.Join(t.TempDir(), "state", "nbs-worker")))
}

func mustSeal(t testing.TB, k *Keeper, kind, content string) string {
	t.Helper()
	seal, err := k.Seal(kind, []byte(content))
	rig.Must(t, err)
	return seal
}

func TestSealIsOfOneContentOfOneKindOfOneUser(t *testing.T) {
	mine, theirs := keeper(t), keeper(t)
	seal := mustSeal(t, mine, "record", "content")
	err := mine.Check("record", []byte("content"), seal)
	rig.Check(t, err == nil, "%v", err)
	mustSeal(t, theirs, "record", "content")
	for what, err := range map[string]error{
		"another content":                        mine.Check("record", []byte("contenT"), seal),
		"another kind":                           mine.Check("team", []byte("content"), seal),
		"kind and content that join to the same": mine.Check("recor", []byte("dcontent"), seal),
		"another user":                           theirs.Check("record", []byte("content"), seal),
		"a user without key":                     keeper(t).Check("record", []byte("content"), seal),
		"no seal":                                mine.Check("record", []byte("content"), ""),
		"half a seal":                            mine.Check("record", []byte("content"), seal[:20]),
		"no base64":                              mine.Check("record", []byte("content"), "?"+seal),
	} {
		rig.Check(t, errors.Is(err, ErrSeal), "%s: %v", what, err)
	}
}

func TestFieldsThatJoinToTheSameAreNotTheSame(t *testing.T) {
	k := keeper(t)
	seal, err := k.SealFields("record", []agent.Field{{Name: "a", Value: "bc"}, {Name: "d", Value: ""}})
	rig.Must(t, err)
	for _, other := range [][]agent.Field{
		{{Name: "ab", Value: "c"}, {Name: "d", Value: ""}},
		{{Name: "a", Value: "bcd"}},
		{{Name: "d", Value: ""}, {Name: "a", Value: "bc"}},
	} {
		err := k.CheckFields("record", other, seal)
		rig.Check(t, errors.Is(err, ErrSeal), "%v: %v", other, err)
	}
}

func TestChangedFieldsAreNamed(t *testing.T) {
	k := keeper(t)
	fields := []agent.Field{{Name: "cwd", Value: "/"}, {Name: "env", Value: ""}}
	seal, err := k.SealFields("record", fields)
	rig.Must(t, err)
	if changed := k.Changed("record", fields, seal); changed != nil {
		t.Errorf("nothing was changed: %v", changed)
	}
	changed := slices.Clone(fields)
	changed[1].Value = "x"
	names := k.Changed("record", changed, seal)
	rig.Check(t, slices.Equal(names, []string{"env"}), "changed: %v", names)
	names = keeper(t).Changed("record", changed, seal)
	rig.Check(t, names == nil, "by a user without a key: %v", names)
}

// Of many who make the key at a time all have the same one.
func TestOneKeyOfManyAtATime(t *testing.T) {
	home := Home(filepath.Join(t.TempDir(), "nbs-worker"))
	seals := make([]string, 20)
	var all sync.WaitGroup
	for i := range seals {
		all.Go(func() { seals[i], _ = NewKeeper(home).Seal("record", nil) })
	}
	all.Wait()
	if slices.Sort(seals); seals[0] == "" || seals[0] != seals[len(seals)-1] {
		t.Errorf("seals: %v", slices.Compact(seals))
	}
	entries, err := os.ReadDir(string(home))
	rig.Check(t, err == nil && len(entries) == 1, "the folder has %v, %v", entries, err)
}

func TestKeyThatMustNotBeUsed(t *testing.T) {
	k := keeper(t)
	mustSeal(t, k, "record", "")
	for what, damage := range map[string]func(path string) error{
		"open to others": func(path string) error { return os.Chmod(path, 0o640) },
		"too short":      func(path string) error { return os.Truncate(path, 31) },
		"a folder":       func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a socket": func(path string) error {
			return errors.Join(os.Remove(path), syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0))
		},
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".there"), os.Symlink(path+".there", path))
		},
	} {
		damaged := keeper(t)
		mustSeal(t, damaged, "record", "")
		rig.Must(t, damage(damaged.path()))
		again := NewKeeper(damaged.home)
		err := again.Check("record", nil, "x")
		rig.Check(t, fail.KindOf(err) == fail.Unfit, "%s: %v", what, err)
		_, err = again.Seal("record", nil)
		rig.Check(t, fail.KindOf(err) == fail.Unfit, "%s: %v", what, err)
	}
}

// What kept the key from being read passes, and must not lead to another key.
func TestKeyThatCannotBeReadIsNotUnfit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	rig.Must(t, os.WriteFile(file, nil, 0o600))
	k := NewKeeper(Home(file)) // no folder: the key in it is neither there nor known not to be there
	_, sealErr := k.Seal("record", nil)
	for _, err := range []error{k.Check("record", nil, "x"), sealErr} {
		rig.Check(t, fail.KindOf(err) == fail.Failed && errors.Is(err, syscall.ENOTDIR), "%v", err)
		hints := strings.Join(fail.HintsOf(err), "; ")
		rig.Check(t, !strings.Contains(hints, "mv "), "the hints are %s", hints)
	}
}

func TestHomeOfAnEnvironment(t *testing.T) {
	for want, env := range map[Home][]string{
		"/s/nbs-worker":                {"HOME=/h", "XDG_STATE_HOME=/s"},
		"/h/.local/state/nbs-worker":   {"HOME=/h", "XDG_STATE_HOME=relative"},
		"/told":                        {"HOME=/h", "XDG_STATE_HOME=/s", "NBS_STATE=/told"},
		"/one/.local/state/nbs-worker": {"HOME=/one", "HOME=/two"}, // as Go itself reads it
	} {
		got, err := HomeOf(env)
		rig.Check(t, got == want && err == nil, "%v: %s, %v", env, got, err)
	}
	_, err := HomeOf([]string{"HOME="})
	rig.Check(t, fail.KindOf(err) == fail.Unfit, "no home: %v", err)
}
