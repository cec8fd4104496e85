package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
)

// runCancel keeps an agent where it is, and has what was brought to the other machine removed there.
func runCancel(ctx context.Context, f *ui.Factory, h agent.Handle, from place) error {
	var text bytes.Buffer
	if err := from.Run(ctx, nil, &text, "host", "leave", string(h), "--cancel"); err != nil {
		return err
	}
	if err := stayed(f, h, from, false); err != nil {
		return err
	}
	if text.Len() == 0 { // of an earlier version, which names no move
		return nil
	}
	var was agent.HostMove
	if err := json.Unmarshal(text.Bytes(), &was); err != nil {
		return fail.Errorf(fail.Failed, "the answer of host leave cannot be read: %w", err)
	}
	dropAt(ctx, f, was.To, was.ID)
	return nil
}

// stayed says that an agent is where it was.
func stayed(f *ui.Factory, h agent.Handle, from place, back bool) error {
	words := "stays " + from.at() + ", stopped"
	if back {
		words = "is back " + from.at() + ", stopped"
	}
	err := f.ShowOne(ui.Outcome{Handle: h, Words: words, JSON: wire.Stayed{Handle: h, At: from.name, Back: back}})
	f.Hint("it is stopped; to start it: nbs-worker resume %s", wordOf(h, from))
	return err
}

// dropAt removes what a move that was canceled has brought to a machine. What cannot be removed is harmless there: it is
// no agent, and goes when the agent comes by another move.
func dropAt(ctx context.Context, f *ui.Factory, name, id string) {
	at, err := placeOf(f, here)
	if known, other := host.Load(os.Environ()); other == nil && at.name != name {
		var h host.Host
		h, err = known.Find(name)
		at = place{onHost{f, h}, name, name}
	}
	if err == nil {
		err = at.Run(ctx, nil, &bytes.Buffer{}, "host", "take", "--drop", "--id", id)
	}
	if err != nil {
		f.SayNote("what was brought to " + name + " is still there: " + err.Error())
	}
}
