// Package moves keeps what a project knows of the moves of its agents to and from other machines.
//
//   - A note of each move is in .nbs/moves, with the user's seal. On the machine that an agent leaves, the state [Left] is
//     the moment at which the agent stops being there. Notes stay: a step that is asked for again finds what was done.
//   - The files of an agent that is arriving are in the user's state folder, outside of every project: an agent that may
//     edit the files of the project must not be able to change them.
package moves

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// Folder is where the notes are, below .nbs.
const Folder = "moves"

// State is how far a move is on one machine.
type State string

// The states. Arrived is of the machine to which an agent comes. The others are of the one that it leaves.
const (
	Given   State = "given"   // its files were handed out; it is still here
	Left    State = "left"    // it is no longer here
	Done    State = "done"    // it is known to have arrived
	Lost    State = "lost"    // it had left, and is here again: the other machine is lost
	Back    State = "back"    // it had left, and has come back by another move
	Arrived State = "arrived" // it is here
)

// Note is what one machine knows of a move.
type Note struct {
	ID        string          `json:"id"`
	Handle    agent.Handle    `json:"handle"`
	SessionID agent.SessionID `json:"session_id"`
	State     State           `json:"state"`
	Place     string          `json:"place"` // the name of the other machine, as it was when the move began
	PlaceID   string          `json:"place_id,omitempty"`
	Command   string          `json:"command"` // completes the move, where it was begun
	Digest    string          `json:"digest"`  // of the package
	At        time.Time       `json:"at"`
	Number    int             `json:"number,omitzero"` // of the project's departures, in their order: clocks are put back

	Print    string          `json:"print,omitempty"`    // of the files that the package was made of
	Messages []string        `json:"messages,omitempty"` // the ids of those in the package
	Tree     Tree            `json:"tree,omitzero"`      // in the package; zero: it had no worktree
	Record   json.RawMessage `json:"record,omitempty"`   // as it was when the agent left
}

// Tree is a worktree, as git has kept it.
type Tree struct {
	Ref    string `json:"ref"`
	Commit string `json:"commit"`
}

// HasLeft reports whether the agent is no longer here by this move.
func (n *Note) HasLeft() bool { return n.State == Left || n.State == Done }

// AtHost returns the agent as it is named on this machine since, alice@build1, if the move was begun here to a host.
func (n *Note) AtHost() (word string, is bool) {
	words := strings.Fields(n.Command) // nbs-worker move alice --to build1
	if len(words) < 5 || !n.Handle.Same(agent.Handle(words[2])) || words[3] != "--to" {
		return "", false
	}
	return string(n.Handle) + "@" + words[4], true
}

const noteLimit = 4 << 20 // bytes

// Drawer has the notes of a project, and the packages that have come for it.
type Drawer struct {
	nbs  *sealed.Folder
	tree private.Tree
}

// In returns the moves of a project. tree is a folder outside of it, for packages.
func In(nbs *sealed.Folder, tree private.Tree) *Drawer { return &Drawer{nbs: nbs, tree: tree} }

// PlaceID returns the id of the project of this user on this machine. It does not change with the machine's name.
func (d *Drawer) PlaceID() (string, error) { return PlaceIDOf(d.nbs.Keeper, d.nbs.Project) }

// PlaceIDOf returns the id of a project of the user with this key.
func PlaceIDOf(key *trust.Keeper, project string) (string, error) {
	return key.Seal("place", []byte(project))
}

type sealedNote struct {
	Note

	Seal string `json:"seal"`
}

func (n *sealedNote) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "move", Place: fileOf(n.ID), Content: n.Note, Seal: &n.Seal}
}

func fileOf(id string) string { return id + ".json" }

// Put writes a note durably, and numbers a departure. The caller has the verb lock of the agent, if it leaves.
func (d *Drawer) Put(n Note) error {
	if err := agent.CheckMoveID(n.ID); err != nil {
		return err
	}
	n.At = n.At.UTC()
	if n.State == Left && n.Number == 0 {
		all, err := d.All()
		if err != nil {
			return err
		}
		for i := range all {
			n.Number = max(n.Number, all[i].Number)
		}
		n.Number++
	}
	return d.nbs.Put(Folder, fileOf(n.ID), &sealedNote{Note: n}, noteLimit)
}

// Get returns the note of a move; its state is "" if there is none. Errors: Held for a note without the user's seal.
func (d *Drawer) Get(id string) (Note, error) {
	if err := agent.CheckMoveID(id); err != nil {
		return Note{}, err
	}
	read := sealedNote{Note: Note{ID: id}}
	err := private.IfThere(d.get(id, &read))
	if err != nil {
		return Note{}, err
	}
	return read.Note, nil
}

func (d *Drawer) get(id string, into *sealedNote) error {
	err := d.nbs.Get(Folder, fileOf(id), into, noteLimit)
	if err == nil && into.ID != id {
		err = errors.New("it is of another move")
	}
	if err == nil || private.IfThere(err) == nil {
		return err
	}
	file := Folder + "/" + fileOf(id)
	return d.nbs.Refused(file, "", err, "look at it, then remove it: rm "+d.nbs.Path(file))
}

// All returns the readable notes, the last departure first.
func (d *Drawer) All() ([]Note, error) {
	names, err := d.nbs.List(Folder)
	if err != nil {
		return nil, err
	}
	var all []Note
	for _, name := range names {
		id := strings.TrimSuffix(name, ".json")
		if agent.CheckMoveID(id) != nil {
			continue
		}
		if n, err := d.Get(id); err == nil && n.State != "" {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b Note) int { return cmp.Or(b.Number-a.Number, b.At.Compare(a.At)) })
	return all, nil
}

// CameBack ends the departures of conversations that are here now, by the move of an id.
func (d *Drawer) CameBack(id string, conversations []agent.SessionID) error {
	all, err := d.All()
	for _, old := range all {
		if old.HasLeft() && old.ID != id && slices.Contains(conversations, old.SessionID) {
			old.State = Back
			err = errors.Join(err, d.Put(old))
		}
	}
	return err
}

// Of returns the note of the last departure of an agent; nil if it has not left.
func (d *Drawer) Of(handle agent.Handle) *Note {
	all, err := d.All()
	if err != nil {
		return nil
	}
	for i := range all {
		if n := &all[i]; n.Handle.Same(handle) && n.HasLeft() {
			return n
		}
	}
	return nil
}
