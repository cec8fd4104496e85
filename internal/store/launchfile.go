package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
)

// launchLimit is in bytes. The kernel takes environments of a few megabytes.
const launchLimit = 8 << 20

// Launch is what a verb passes to the launcher that it starts, but not on a command line: the caller's environment,
// which may hold secrets, and the prompt.
type Launch struct {
	Invocation agent.Invocation `json:"invocation"`
	Claude     string           `json:"claude"`  // path of the program
	Opening    string           `json:"opening"` // how claude opens the conversation, as the verb has decided
	Env        Environ          `json:"env"`
	Prompt     string           `json:"prompt,omitempty"`
	Brief      string           `json:"brief,omitempty"`       // what claude is told beside the prompt, when it has started
	TmuxSocket string           `json:"tmux_socket,omitempty"` // "": a person started the launcher
}

// Environ is an environment, NAME=VALUE. In the file it is base64: a JSON string
// would alter values that are not UTF-8.
type Environ []string

// MarshalJSON joins the entries as the kernel does.
func (e Environ) MarshalJSON() ([]byte, error) {
	return json.Marshal([]byte(strings.Join(e, "\x00")))
}

// UnmarshalJSON takes them apart again.
func (e *Environ) UnmarshalJSON(data []byte) error {
	var joined []byte
	if err := json.Unmarshal(data, &joined); err != nil {
		return err
	}
	*e = nil
	if len(joined) > 0 {
		*e = strings.Split(string(joined), "\x00")
	}
	return nil
}

// PutLaunch writes the launch of an agent for its launcher, and replaces an older one. The caller holds the verb
// lock. It needs free disk space: a launcher that could not write the record would end without a message. Errors:
// those of writing.
func (s *Store) PutLaunch(handle agent.Handle, launch Launch) error {
	remove, err := s.tryRecord(handle)
	remove()
	if err != nil {
		return err
	}
	name := launchFile(handle, launch.Invocation)
	if err := s.launches().HandOver(name, launch, launchLimit); err != nil {
		return err
	}
	return s.dropLaunches(handle, name)
}

// TakeLaunch reads the launch of an agent and removes it. Errors: [agent.ErrSuperseded] when there is no launch of
// this invocation: another start or another launcher has replaced it.
func (s *Store) TakeLaunch(handle agent.Handle, id agent.Invocation) (Launch, error) {
	name := launchFile(handle, id)
	launch, err := s.readLaunch(name, id)
	if err == nil {
		err = s.takeAway(name) // of two who read it, one removes it
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Launch{}, agent.ErrSuperseded
	}
	if err != nil {
		return Launch{}, fmt.Errorf("take %s: %w", s.launches().Path(name), err)
	}
	return launch, nil
}

// takeAway removes a launch file. Errors: [fs.ErrNotExist].
func (s *Store) takeAway(name string) error {
	dir, err := s.launches().Open()
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Unlinkat(int(dir.Fd()), name, 0)
}

// readLaunch reads the launch of one start. Errors: [fs.ErrNotExist] when it does not exist.
func (s *Store) readLaunch(name string, id agent.Invocation) (Launch, error) {
	data, err := s.launches().Read(name, launchLimit)
	if err != nil {
		return Launch{}, err
	}
	var launch Launch
	if err := json.Unmarshal(data, &launch); err != nil {
		return Launch{}, err
	}
	if launch.Invocation != id {
		return Launch{}, fs.ErrNotExist
	}
	return launch, nil
}

// DropLaunch removes launch files that no launcher took.
func (s *Store) DropLaunch(handle agent.Handle) error { return s.dropLaunches(handle, "") }

func (s *Store) dropLaunches(handle agent.Handle, but string) error {
	names, err := s.launches().Names()
	if err != nil {
		return err
	}
	return s.launches().Remove(slices.DeleteFunc(names, func(name string) bool {
		return !isLaunchOf(handle, name) || name == but
	})...)
}

// launchFile returns a name for one start alone: a late launcher cannot remove the file of the next start.
func launchFile(handle agent.Handle, id agent.Invocation) string {
	return handle.Key() + "." + string(id) + ".json"
}

// isLaunchOf reports whether a file is a launch file of the agent. A handle has no dot,
// so no other agent's files begin like this.
func isLaunchOf(handle agent.Handle, name string) bool {
	return strings.HasPrefix(strings.ToLower(name), handle.Key()+".")
}
