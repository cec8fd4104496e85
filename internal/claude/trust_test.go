package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// trusted reads back whether a folder is trusted, and fails when the file cannot be read.
func (c Config) trusted(t *testing.T, folder string) bool {
	t.Helper()
	text, err := os.ReadFile(c.file)
	rig.Must(t, err)
	var file struct {
		Projects map[string]struct {
			HasTrustDialogAccepted bool
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return file.Projects[folder].HasTrustDialogAccepted
}

func trust(t *testing.T, c Config, folder string) {
	t.Helper()
	rig.Must(t, c.Trust(t.Context(), folder))
	rig.Check(t, c.trusted(t, folder), "%s is not trusted", folder)
	_, err := os.Stat(c.file + ".lock")
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "the lock stays: %v", err)
}

func TestTrustMakesTheFile(t *testing.T) {
	t.Parallel()
	c, err := ConfigAt(filepath.Join(t.TempDir(), "not", "yet"))
	rig.Must(t, err)
	trust(t, c, t.TempDir())
	if info, err := os.Stat(c.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 0600", info.Mode(), err)
	}
}

func TestTrustOfWhatIsEmpty(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, text := range []string{"", "{}", "null", `{"projects":null}`, `{"projects":{}}`, `{"projects":{"` + folder + `":null}}`} {
		c := newConfig(t)
		c.put(t, ".claude.json", text)
		trust(t, c, folder)
	}
}

func TestTrustLeavesTheRest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	values := map[string]string{
		"numStartups":    "12345678901234567890123",
		"ratio":          "1.50",
		"name":           `"na\u00efve \u2713 <b>&amp;</b> \u2028"`,
		"raw":            `"naïve ✓ <&>"`,
		"escaped":        `"\u003cx\u003e"`,
		"nested":         `{"z":[1,2,{"b":null}],"a":1e400}`,
		"tipsHistory":    `{}`,
		"customApiKey\n": `["x"]`,
	}
	fields := []string{`"projects":{"/other":{"hasTrustDialogAccepted":false,"id":98765432109876543210},"` + folder + `":{"allowedTools":["<&>"],"hasTrustDialogAccepted":false}}`}
	for name, value := range values {
		key, err := json.Marshal(name)
		rig.Must(t, err)
		fields = append(fields, string(key)+":"+value)
	}
	text := "{" + strings.Join(fields, ",") + "}"
	c := newConfig(t)
	rig.Must(t, os.Chmod(c.put(t, ".claude.json", text), 0o640))
	trust(t, c, folder)
	after := valuesOf(t, c.file)
	projects := `{"/other":{"hasTrustDialogAccepted":false,"id":98765432109876543210},"` + folder + `":{"allowedTools":["<&>"],"hasTrustDialogAccepted":true}}`
	values["projects"] = projects
	rig.Same(t, "what else is in the file", values, after)
	if info, err := os.Stat(c.file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v; want 0640 as before", info.Mode(), err)
	}
}

// valuesOf returns the values of a JSON file as they are spelled, less the blanks.
func valuesOf(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	rig.Must(t, err)
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	values := make(map[string]string, len(raw))
	for name, value := range raw {
		var compact bytes.Buffer
		rig.Must(t, json.Compact(&compact, value))
		values[name] = compact.String()
	}
	return values
}

func TestTrustRefusesADamagedFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", "[]", `{"projects":[]}`, `{"projects":{}} x`, `"x"`} {
		c := newConfig(t)
		c.put(t, ".claude.json", text)
		wantKind(t, text, c.Trust(t.Context(), t.TempDir()), fail.BadInput)
		after, err := os.ReadFile(c.file)
		rig.Check(t, string(after) == text && err == nil, "the file was changed to %s, %v", after, err)
	}
}

// Claude looks folders up by their real names.
func TestTrustOfALinkIsOfItsTarget(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	rig.Must(t, os.Symlink(folder, link))
	c := newConfig(t)
	rig.Must(t, c.Trust(t.Context(), link))
	rig.Check(t, c.trusted(t, folder) && !c.trusted(t, link), "trusted is the link and not %s", folder)
	err := c.Trust(t.Context(), link+"-gone")
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "a folder that is not there: %v", err)
}

func TestTrustKeepsAConfigurationThatIsALink(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	real := filepath.Join(t.TempDir(), "dotfiles.json")
	rig.Must(t, os.WriteFile(real, []byte(`{"a":1}`), 0o600))
	rig.Must(t, os.Symlink(real, c.file))
	trust(t, c, t.TempDir())
	rig.Gives(t, real, "the link")(os.Readlink(c.file))
	values := valuesOf(t, real)
	rig.Check(t, values["a"] == "1" && values["projects"] != "", "its target is %v", values)
}

// held puts Claude's lock in place, taken so long ago.
func (c Config) held(t *testing.T, age time.Duration) string {
	t.Helper()
	lock := c.file + ".lock"
	rig.Must(t, os.Mkdir(lock, 0o700))
	since := time.Now().Add(-age)
	rig.Must(t, os.Chtimes(lock, since, since))
	return lock
}

func TestTrustWaitsForTheLock(t *testing.T) {
	t.Parallel()
	c, folder := newConfig(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lock := c.held(t, time.Second)
		done := make(chan error)
		go func() { done <- c.Trust(t.Context(), folder) }()
		synctest.Wait()
		c.put(t, ".claude.json", `{"theirs":1}`) // what the holder took the lock for
		rig.Must(t, os.Remove(lock))
		rig.Must(t, <-done)
	})
	values := valuesOf(t, c.file)
	rig.Check(t, values["theirs"] == "1" && c.trusted(t, folder), "one of two changes is lost: %v", values)
}

func TestTrustGivesUp(t *testing.T) {
	t.Parallel()
	c, folder := newConfig(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lock := c.held(t, time.Second)
		holder := time.NewTicker(configLockStale / 2)
		defer holder.Stop()
		over := make(chan struct{})
		defer close(over)
		go func() {
			for {
				select {
				case now := <-holder.C:
					rig.Check(t, os.Chtimes(lock, now, now) == nil, "the lock is gone")
				case <-over:
					return
				}
			}
		}()
		begun := time.Now()
		wantKind(t, "a lock that stays", c.Trust(t.Context(), folder), fail.Conflict)
		waited := time.Since(begun)
		rig.Check(t, waited >= configLockWait && waited <= 2*configLockWait, "it waited %s", waited)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := c.Trust(ctx, folder)
		rig.Check(t, errors.Is(err, context.DeadlineExceeded), "with less time: %v; want the context's error", err)
	})
	_, err := os.Stat(c.file)
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "written without the lock: %v", err)
}

// A claude that was killed just now leaves a lock that is not stale yet.
func TestTrustOutlastsAKilledHolder(t *testing.T) {
	t.Parallel()
	c, folder := newConfig(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c.held(t, 0)
		trust(t, c, folder)
	})
}

// A stale lock is taken over, and one that cannot be removed is given up.
func TestTrustOfAStaleLock(t *testing.T) {
	t.Parallel()
	c, folder, other := newConfig(t), t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		lock := c.held(t, 2*configLockStale)
		trust(t, c, folder)
		c.held(t, 2*configLockStale)
		rig.Must(t, os.WriteFile(filepath.Join(lock, "x"), nil, 0o600))
		long := time.Now().Add(-2 * configLockStale)
		rig.Must(t, os.Chtimes(lock, long, long))
		wantKind(t, "a lock that stays", c.Trust(t.Context(), other), fail.Conflict)
	})
}
