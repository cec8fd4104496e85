package db

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
)

// Whoever has written an export: all of it is taken over and is as what was observed here, so that the export of it is
// taken over too, or nothing is.
func FuzzImport(f *testing.F) {
	whole := exported(f, remembered(f))
	for _, text := range []string{
		"", whole, whole[:len(whole)-20], strings.ReplaceAll(whole, string(alice), strings.ToUpper(string(alice))),
		strings.Replace(whole, `"turn":1`, `"turn":-1`, 1), strings.Replace(whole, `"first_prompt":"`, `"first_prompt":"\u0000`, 1),
		strings.Replace(whole, `"handle":"alice"`, `"handle":"ALICE"`, 1), `{"format":"nbs-worker-memory","version":1}` + "\n{}",
	} {
		f.Add(text)
	}
	first, second := made(f), made(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []*Database{first, second} {
			_, err := d.sql.ExecContext(t.Context(), "DELETE FROM observed")
			rig.Must(t, err)
		}
		n, skipped, err := first.Import(t.Context(), strings.NewReader(text))
		if err != nil {
			kind := fail.KindOf(err)
			rig.Check(t, kind == fail.BadInput || kind == fail.Unfit || kind == fail.Conflict, "%q: %v (kind %d)", text, err, kind)
			left, err := first.Status(t.Context())
			rig.Check(t, err == nil && len(left) == 0, "%q: refused, and left are %+v, %v", text, left, err)
			return
		}
		mustBeWhole(t, first)
		conversations, err := first.Status(t.Context())
		rig.Must(t, err)
		for i := range conversations {
			c := &conversations[i]
			id, notAnID := agent.ParseSessionID(string(c.ContentID))
			handle, notAHandle := agent.ParseHandle(string(c.Handle))
			rig.Check(t, notAnID == nil && id == c.ContentID && notAHandle == nil && handle == c.Handle, "%q: %+v", text, c)
			rig.Check(t, c.Synthesized && c.Captured() && len(c.FirstPrompt) <= promptLimit, "%q: %+v", text, c)
		}
		all, err := first.Latest(t.Context(), memory.Query{Limit: n + 1})
		rig.Check(t, err == nil && len(all) == n, "%q: %d of %d, %v", text, len(all), n, err)
		for i := range all {
			rig.Check(t, all[i].Validate() == nil && all[i].Turn >= 0, "%q: %+v: %v", text, all[i], all[i].Validate())
		}
		again := exported(t, first)
		m, twice, err := second.Import(t.Context(), strings.NewReader(again))
		rig.Check(t, err == nil && m == n && twice == 0, "%q (%d, %d skipped): again %d, %d skipped: %v", text, n, skipped, m, twice, err)
		rig.Check(t, exported(t, second) == again, "%q is exported as %q, and again as %q", text, again, exported(t, second))
	})
}
