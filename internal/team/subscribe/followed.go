package subscribe

import (
	"errors"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/queue"
)

// followed is what is watched for one agent.
type followed struct {
	handle         agent.Handle
	record, report string                    // files
	outbox         string                    // how the paths of its entries begin; "": it is not watched
	files          map[string]bool           // that the record names: the registry entry, the transcript
	processes      map[agent.Identified]bool // that the record names

	stale    bool // the record may name others now
	due      bool // a sign of it is due
	reported bool // a sign is due of its report
}

// AnyFile stands for all files of a folder.
const AnyFile = "/*"

func (f *followed) hasFile(path string) bool {
	return path == f.record || f.files[path] || f.files[filepath.Dir(path)+AnyFile] || f.outbox != "" && strings.HasPrefix(path, f.outbox)
}

// arm watches what shows a change of the agents, as far as that may be something else than before.
func (s *Signs) arm() {
	if s.stale && s.err == nil {
		s.stale, s.err = false, s.armFolders()
		handles := s.wanted.Handles
		if len(handles) == 0 {
			handles, _ = s.look.Store.Handles() // the caller's look reports what is wrong there
		}
		for _, handle := range handles {
			s.follow(handle)
		}
		for _, f := range s.agents {
			f.stale = true
		}
	}
	for _, f := range s.agents {
		if f.stale && s.err == nil {
			f.stale, s.err = false, s.armAgent(f)
		}
	}
}

// armFolders watches the folders that all agents share.
func (s *Signs) armFolders() (err error) {
	record, report := s.look.Store.Watched("any")
	files := append([]string{record, report}, s.wanted.Files...)
	if s.wanted.Outboxes {
		files = append(files, filepath.Join(s.look.Store.Folder(), queue.Folder)+AnyFile)
	}
	for _, file := range files {
		err = errors.Join(err, s.watch.File(file))
	}
	return err
}

// armAgent watches the files and processes that an agent's record names. Without a readable record there are none: its
// next change is a sign.
func (s *Signs) armAgent(f *followed) error {
	f.files, f.processes = map[string]bool{}, map[agent.Identified]bool{}
	r, err := s.look.Store.Load(f.handle)
	if err != nil {
		return nil //nolint:nilerr // the caller's look reports it
	}
	f.handle = r.Handle // in the spelling of its spawn
	f.record, f.report = s.look.Store.Watched(r.Handle)
	for _, file := range s.filesOf(&r) {
		if err := s.watch.File(file); fail.KindOf(err) == fail.Unfit {
			return err
		}
		f.files[file] = true // or it cannot be watched: an agent can write its record, and must not end the watch of others
	}
	for _, id := range s.processesOf(&r) {
		if err := s.watch.Process(s.look.Machine, id); fail.KindOf(err) == fail.Unfit {
			return err
		}
		f.processes[id] = true
	}
	return nil
}

// filesOf returns the files of an agent outside of .nbs. An agent without a recorded process may be in any claude that
// has its conversation open.
func (s *Signs) filesOf(r *agent.Record) (files []string) {
	config, err := s.look.ConfigOf(r)
	if err != nil {
		return nil
	}
	if r.Process == nil {
		files = append(files, config.Registry().Dir()+AnyFile)
	} else {
		files = append(files, config.Registry().Path(r.Process.Claude().PID))
	}
	if s.wanted.Transcripts {
		if transcript, found, err := config.Transcript(r.SessionID); err == nil && found {
			files = append(files, transcript.Path)
		}
	}
	return files
}

// processesOf returns the live processes whose ends change an agent. The end of the command that holds its verb lock
// may be the end of a start.
func (s *Signs) processesOf(r *agent.Record) (live []agent.Identified) {
	if r.Process != nil {
		for _, id := range []agent.Identity{r.Process.Identity, r.Process.LauncherIdentity()} {
			if s.look.Machine.IsAlive(id) {
				live = append(live, id.Identified)
			}
		}
	}
	if holder, signed := s.look.Store.VerbHolder(r.Handle); signed {
		if id, err := s.look.Machine.Identify(holder.PID); err == nil {
			live = append(live, id.Identified)
		}
	}
	return live
}
