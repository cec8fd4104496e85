package store

import (
	"context"
	"errors"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/trust"
)

// recordKind is the kind of the seals of records.
const recordKind = "record"

// Use sets the user's key, with which records are sealed and checked. A store without a key can read, and write what
// no seal covers.
func (s *Store) Use(keeper *trust.Keeper) {
	s.keeper = keeper
	s.UseHome(keeper.Home())
}

// CheckSeal checks that the user has sealed the parts of a record that are run. Errors: Held when they are not
// sealed; Unfit when the key cannot be used; Failed when the key cannot be read now.
func (s *Store) CheckSeal(r *agent.Record) error {
	err := s.checkFields(r.LaunchFields(), r.Seal)
	if !errors.Is(err, trust.ErrSeal) {
		return err
	}
	why := "it was not written by a command of this user"
	if r.Schema == 0 {
		why = "the original tools wrote it, or a person did"
	}
	if changed := s.ChangedSinceSealed(r); len(changed) > 0 {
		why = "changed since it was allowed: " + strings.Join(changed, ", ")
	}
	return fail.Errorf(fail.Held, "the record is not allowed: %s", why).
		HintsOf(err).
		Hint("look at what it would run, and allow it on a terminal: nbs-worker allow %s", r.Handle)
}

// IsNotAllowed reports whether a record is known to lack the user's seal.
func (s *Store) IsNotAllowed(r *agent.Record) bool { return fail.KindOf(s.CheckSeal(r)) == fail.Held }

// IsAllowed reports whether a record has the user's seal; err is why that is not known.
func (s *Store) IsAllowed(r *agent.Record) (allowed bool, err error) {
	err = s.CheckSeal(r)
	if fail.KindOf(err) == fail.Held {
		return false, nil
	}
	return err == nil, err
}

// ChangedSinceSealed names the fields of a record that have changed since it was sealed. It names none if that is not
// known.
func (s *Store) ChangedSinceSealed(r *agent.Record) []string {
	if s.keeper == nil {
		return nil
	}
	return s.keeper.Changed(recordKind, r.LaunchFields(), r.Seal)
}

func (s *Store) checkFields(fields []agent.Field, seal *agent.Seal) error {
	return s.keeper.CheckFields(recordKind, fields, seal)
}

// seal seals the record in its present state.
func (s *Store) seal(r *agent.Record) (err error) {
	r.Seal, err = s.keeper.SealFields(recordKind, r.LaunchFields())
	return err
}

// reseal renews a valid seal after a change by this program. A record without a valid seal gets no seal. A change
// that affects no launch needs no key.
func (s *Store) reseal(r *agent.Record, fields []agent.Field, seal *agent.Seal) error {
	r.Seal = seal
	if seal == nil || slices.Equal(r.LaunchFields(), fields) {
		return nil
	}
	switch err := s.checkFields(fields, seal); {
	case errors.Is(err, trust.ErrSeal):
		return nil
	case err != nil:
		return err
	}
	return s.seal(r)
}

// Allow seals the record of an agent, if it is still the one that the user looked at.
// Errors: those of [Store.Load]; Conflict when it was changed since.
func (s *Store) Allow(ctx context.Context, looked *agent.Record) error {
	unlock, err := s.lockRecord(ctx, looked.Handle)
	if err != nil {
		return err
	}
	defer unlock()
	record, err := s.Load(looked.Handle)
	if err != nil {
		return err
	}
	if !slices.Equal(record.LaunchFields(), looked.LaunchFields()) {
		return fail.Errorf(fail.Conflict, "the record was changed while you looked at it").
			Hint("look again: nbs-worker allow %s", looked.Handle)
	}
	if err := s.seal(&record); err != nil {
		return err
	}
	return s.write(&record)
}
