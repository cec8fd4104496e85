// Package move brings an agent from one machine of the user to another: its record, its conversations, what is remembered
// of it, its waiting messages, and with a worktree the tree.
//
// A move has an id and five steps, each a command at one of both machines:
//
//   - give, at the machine that the agent leaves: it is ended, its record is marked, so that no verb starts it, and all of
//     it is written to stdout as a package;
//   - take, at the other machine: the package is checked and kept aside. It is not an agent yet;
//   - leave, at the first machine: a sealed note says that the agent has left. This is the moment of the move. What it was
//     made of must not have changed since it was given. Its record is removed; its transcripts stay in the archive;
//   - arrive, at the other machine: the package becomes an agent with the seal of the user there, and is started if it ran;
//   - done, at the first machine: the note says that it has arrived.
//
// Until it leaves, the agent is at the first machine alone, and after that at the other one alone. Each step can be
// repeated: it finds by the id what was done. So the command that was killed completes the move when it is repeated.
package move

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/moves"
)

// Place is a machine with a project: this one, or a host.
type Place interface {
	// Run runs nbs-worker there. Errors: those of the command, with their kinds.
	Run(ctx context.Context, in io.ReadSeeker, out io.Writer, args ...string) error
}

// Ask is what the machine that an agent is at says of it.
type Ask struct {
	Format  int         `json:"format"`
	Version string      `json:"version"` // of nbs-worker
	ID      string      `json:"id,omitempty"`
	State   moves.State `json:"state,omitempty"` // "": it is there, and no move is under way
	Place   string      `json:"place,omitempty"` // the name of the machine to which it is on its way
	PlaceID string      `json:"place_id,omitempty"`
	Command string      `json:"command,omitempty"`
	Digest  string      `json:"digest,omitempty"`
	Since   time.Time   `json:"since,omitzero"` // when it has left

	Messages int          `json:"messages,omitzero"`  // that have gone with it
	NoStart  bool         `json:"no_start,omitempty"` // it is to be left stopped where it arrives
	Record   agent.Record `json:"record"`
}

// HasLeft reports whether the agent has left, and can only arrive.
func (a *Ask) HasLeft() bool { return a.State == moves.Left || a.State == moves.Done }

// Room is what the other machine says, if the agent can come.
type Room struct {
	Format  int      `json:"format"`
	Version string   `json:"version"`
	PlaceID string   `json:"place_id"`
	Have    []string `json:"have,omitempty"`  // commits of the repository there
	Notes   []string `json:"notes,omitempty"` // what is different there
}

// Taken is the result of take.
type Taken struct {
	Digest string `json:"digest"`
}

// Gone is the result of leave.
type Gone struct {
	TreeLeft string `json:"tree_left,omitempty"`
	Dropped  int    `json:"dropped,omitzero"`
}

// Settled is the result of arrive.
type Settled struct {
	Record  agent.Record `json:"record"`
	Started bool         `json:"started"`
	State   string       `json:"state,omitempty"`   // of a started one, in words
	NoTree  bool         `json:"no_tree,omitempty"` // its worktree has no branch: that is in use there
}

// Order is a move that a person asks for.
type Order struct {
	Handle   agent.Handle
	From, To Place
	FromName string // of the machine, as the other one shows it
	ToName   string
	AtFrom   string // where that is, in the words of the person: here, or at build1
	AtTo     string
	Command  string // the command line that completes it
	Cancel   string // the one that keeps the agent where it is, while it has not left
	Force    bool
	NoStart  bool
	Trust    bool // have Claude trust its folder there

	Find  func(placeID string) (project string) // of this machine; "": it is of another one
	Drop  func(id, place string)                // has what an earlier move has brought to a place removed there, if it can be
	Spool func() (io.ReadWriteSeeker, error)    // a private file for the package
	Tell  func(what string)                     // progress, for a person
	Note  func(what string)                     // what is different at the other machine
}

// Moved is the result of a move.
type Moved struct {
	Settled
	Gone
}

// Run moves an agent, or completes a move that was interrupted.
func Run(ctx context.Context, o Order) (Moved, error) {
	ask, err := o.look(ctx)
	if err != nil {
		return Moved{}, err
	}
	ask.NoStart = o.NoStart
	room, err := o.room(ctx, ask)
	if err != nil {
		return Moved{}, err
	}
	earlier := *ask
	if err := o.aim(ask, room); err != nil {
		return Moved{}, err
	}
	var done Moved
	if !ask.HasLeft() {
		done.Gone, err = o.bring(ctx, ask, room)
	} else if ask.State == moves.Left { // a killed step may have left its record
		err = call(ctx, o.From, nil, &done.Gone, o.leave(ask)...)
	}
	if err != nil {
		return done, err
	}
	if earlier.State == moves.Given && earlier.ID != ask.ID {
		o.Drop(earlier.ID, earlier.Place)
	}
	o.Tell("starting it " + o.AtTo)
	arrive := []string{"host", "arrive", string(o.Handle), "--id", ask.ID, "--digest", ask.Digest, "--from", o.FromName}
	if o.NoStart {
		arrive = append(arrive, "--no-start")
	}
	if o.Trust {
		arrive = append(arrive, "--trust")
	}
	err = call(ctx, o.To, nil, &done.Settled, arrive...)
	if err != nil && done.Record.Handle == "" {
		return done, fail.Errorf(fail.KindOf(err), "%w; it has left, and is not known to have arrived", err).Hint("to complete the move: %s", o.Command)
	}
	if done.Record.Handle == "" { // it was dismissed there, or has moved on
		err = fail.Errorf(fail.NotFound, "it is no longer %s, where it was moved to", o.AtTo)
	}
	// It has arrived, even if it could not be started.
	return done, errors.Join(err, call(ctx, o.From, nil, nil, "host", "leave", string(o.Handle), "--id", ask.ID, "--done"))
}

func (o *Order) leave(ask *Ask) []string {
	return []string{"host", "leave", string(o.Handle), "--id", ask.ID, "--digest", ask.Digest}
}

// look asks the machine that the agent is at.
func (o *Order) look(ctx context.Context) (*Ask, error) {
	var ask Ask
	args := []string{"host", "give", string(o.Handle), "--look"}
	if o.Force {
		args = append(args, "--force")
	}
	if err := call(ctx, o.From, nil, &ask, args...); err != nil {
		return nil, err
	}
	if ask.Format != format {
		return nil, errVersions(o.AtFrom)
	}
	return &ask, nil
}

// room asks the other machine whether the agent can come. It must be able to say which place it is even if the agent has
// left already.
func (o *Order) room(ctx context.Context, ask *Ask) (room Room, err error) {
	asked, err := json.Marshal(ask)
	if err != nil {
		return room, err
	}
	if err := call(ctx, o.To, bytes.NewReader(asked), &room, "host", "take", "--check"); err != nil {
		return room, err
	}
	if room.Format != format {
		return room, errVersions(o.AtTo)
	}
	for _, note := range room.Notes {
		o.Note(note)
	}
	return room, nil
}

// aim has the move go to the place of this command, if it does not go to another one already. A place is recognised by its
// id: machines are given other names.
func (o *Order) aim(ask *Ask, room Room) error {
	same := ask.PlaceID == room.PlaceID || ask.PlaceID == "" && ask.ID != "" && ask.Place == o.ToName // the id is new
	project := ""
	if !same && ask.HasLeft() && o.Find != nil {
		project = o.Find(ask.PlaceID)
	}
	switch {
	case project != "" && ask.State == moves.Done:
		return fail.Errorf(fail.NotFound, "it is not %s: it was moved here, to %s", o.AtFrom, human.Quote(project)).
			Hint("to see it: nbs-worker --root %s session %s", human.ShellWord(project), o.Handle)
	case project != "":
		in := "nbs-worker --root " + human.ShellWord(project) + " "
		return fail.Errorf(fail.Conflict, "it is on its way here, to %s, and can only arrive there", human.Quote(project)).
			Hint("to complete that move: %s", strings.Replace(ask.Command, "nbs-worker ", in, 1))
	case ask.State == moves.Done && !same:
		return fail.Errorf(fail.NotFound, "it is not %s: it was moved to %s", o.AtFrom, ask.Place)
	case ask.State == moves.Left && !same:
		return fail.Errorf(fail.Conflict, "it is on its way to %s, and can only arrive there", ask.Place).
			Hint("to complete that move: %s", ask.Command)
	case ask.ID == "" || !same:
		ask.ID = agent.NewMoveID() // a move to another place is another move
	}
	return nil
}

func errVersions(at string) error {
	return fail.Errorf(fail.Unfit, "nbs-worker %s has another version, which moves agents in another way", at).
		Hint("install the same version at both machines: nbs-worker version")
}

// bring has the agent given, taken, and left. It completes the digest of the move.
func (o *Order) bring(ctx context.Context, ask *Ask, room Room) (gone Gone, err error) {
	have, err := json.Marshal(room)
	if err != nil {
		return gone, err
	}
	const tries = 3 // messages may come between the steps
	for n := 1; ; n++ {
		if err = o.carry(ctx, ask, room.PlaceID, have); err != nil {
			return gone, err
		}
		err = call(ctx, o.From, nil, &gone, o.leave(ask)...)
		if err == nil || fail.KindOf(err) != fail.Conflict || n == tries {
			return gone, o.halfway(err)
		}
	}
}

// carry has a package given and taken.
func (o *Order) carry(ctx context.Context, ask *Ask, placeID string, have []byte) error {
	spool, err := o.Spool()
	if err != nil {
		return err
	}
	o.Tell("packing it " + o.AtFrom)
	give := []string{"host", "give", string(o.Handle), "--id", ask.ID, "--to", o.ToName, "--place", placeID, "--from", o.FromName, "--command", o.Command}
	if o.Force {
		give = append(give, "--force")
	}
	if err := o.From.Run(ctx, bytes.NewReader(have), spool, give...); err != nil {
		return err
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	o.Tell("copying it")
	var taken Taken
	if err := call(ctx, o.To, spool, &taken, "host", "take", "--id", ask.ID); err != nil {
		return o.halfway(err)
	}
	ask.Digest = taken.Digest
	return nil
}

// halfway adds to an error that the agent was stopped, and what can be done.
func (o *Order) halfway(err error) error {
	if err == nil {
		return nil
	}
	return fail.Errorf(fail.KindOf(err), "%w; it was stopped, and the move is not complete", err).
		Hint("to complete the move: %s", o.Command).
		Hint("to keep it where it was, if it has not left: %s", o.Cancel)
}

// call runs a command at a place, and reads its result.
func call(ctx context.Context, at Place, in io.ReadSeeker, into any, args ...string) error {
	var out bytes.Buffer
	err := at.Run(ctx, in, &out, args...)
	if err != nil && into != nil {
		_ = json.Unmarshal(out.Bytes(), into) // it may have done a part
	}
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return fail.Errorf(fail.Failed, "the answer of %s %s cannot be read: %w", args[0], args[1], err)
	}
	return nil
}
