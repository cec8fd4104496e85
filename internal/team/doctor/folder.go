package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/store"
)

func (d *examination) projectFolder(_ context.Context) findings {
	switch {
	case d.ProjectErr != nil:
		return found(Failure, oneLine(d.ProjectErr), "the agents of this project cannot be shown, started or ended", fail.HintsOf(d.ProjectErr)...)
	case !d.project.Store.Exists():
		return found(Note, "there is no project here: no .nbs folder in "+human.Quote(d.project.Store.Project())+" or above it",
			"only the machine was checked", "the first agent makes this folder a project: nbs-worker spawn HANDLE 'TASK'",
			"to check another project: nbs-worker doctor --root DIR")
	}
	return holding("the project is " + d.project.Store.Project())
}

// unreliable says why locks or renames cannot be relied on, on a file system.
func unreliable(on portable.FileSystem) string {
	switch on {
	case portable.NFS:
		return "locks on NFS depend on its server, and two machines that share the folder do not see each other's processes"
	case portable.SMB:
		return "locks and modes on a Windows share differ from those of Unix"
	case portable.NineP, portable.WebDAV, portable.AFP:
		return "locks on " + string(on) + " hold on this machine only, and a rename may not be atomic"
	case portable.FUSE:
		return "the program behind a FUSE disk decides whether locks and syncs work"
	case portable.AFS:
		return "AFS does not enforce locks between machines, and its modes differ from those of a local disk"
	default:
		return ""
	}
}

// disk checks the file systems of the project and of Claude's configurations.
func (d *examination) disk(ctx context.Context) findings {
	all := findings{roomOn(ctx, "the project", d.project.Store.Folder())}
	for _, folder := range d.configFolders() {
		all = append(all, roomOn(ctx, "Claude's configuration", folder))
	}
	where := d.project.Store.Project()
	if d.project.Store.Exists() {
		where = d.project.Store.Folder()
	}
	on, err := portable.FileSystemOf(where)
	switch {
	case err != nil:
		all.add(Warning, "the file system of the project is unknown: "+oneLine(err), "on some file systems locks do not work")
	case unreliable(on) != "":
		all.add(Warning, "the project is on "+string(on), unreliable(on), "keep .nbs on a local disk: nbs-worker --root DIR list")
	case on == portable.Overlay || on == portable.TmpFS:
		all.add(Note, "the project is on "+string(on), "its records are lost with the container or the machine; a volume would keep them")
	}
	return all
}

// configFolders returns the configuration folders of the caller and of the agents.
func (d *examination) configFolders() []string {
	var folders []string
	if config, err := d.callersConfig(); err == nil {
		folders = append(folders, filepath.Dir(config.SettingsFile()))
	}
	for _, row := range d.known() {
		if config, err := d.project.ConfigOf(&row.Record); err == nil {
			folders = append(folders, filepath.Dir(config.SettingsFile()))
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

func (d *examination) fileLocks(_ context.Context) findings {
	err := d.project.Store.ProveFlock()
	if err == nil {
		return nil
	}
	holder := "to see its disk: findmnt -T " + human.ShellWord(d.project.Store.Folder())
	if errors.Is(err, store.ErrNoLocks) {
		return found(Failure, "in "+d.project.Store.Folder()+" "+oneLine(err), "two commands could start one agent at the same time, and fork its conversation",
			"keep .nbs on a local disk; "+holder)
	}
	hints := fail.HintsOf(err)
	if len(hints) == 0 {
		hints = []string{holder}
	}
	return found(Failure, "cannot write in "+d.project.Store.Folder()+": "+oneLine(err), "no agent can be started, and the end of an agent is not recorded", hints...)
}

// outside checks the user's folders outside the project.
func (d *examination) outside(_ context.Context) (all findings) {
	for _, err := range d.project.Store.CheckOutside() {
		all.add(Failure, oneLine(err), "no agent can be started without it, and no transcript is archived", fail.HintsOf(err)...)
	}
	return all
}

// private checks owners and modes. If another user may have planted a file, a person must judge it.
func (d *examination) private(_ context.Context) (all findings) {
	loose, foreign, err := d.project.Store.Loose()
	if err != nil {
		return found(Warning, "the modes in .nbs cannot be read: "+oneLine(err), "other users may be able to read records")
	}
	if len(loose) > 0 {
		readable := all.add(Warning, fmt.Sprintf("other users can read files in .nbs: %s, such as %s (mode %04o)", human.Count(len(loose), "file"), human.Quote(loose[0].Path), loose[0].Mode.Perm()),
			"records contain prompts and last screens", "chmod -R go= "+human.ShellWord(d.project.Store.Folder()))
		readable.repair = func(context.Context) (string, error) {
			for _, l := range loose {
				if err := d.project.Store.Tighten(l); err != nil {
					return "", err
				}
			}
			return fmt.Sprintf("made %d files or folders in .nbs private", len(loose)), nil
		}
	}
	for _, err := range foreign {
		all.add(Warning, oneLine(err), "nbs-worker does not read it; if it is a folder, every verb fails", fail.HintsOf(err)...)
	}
	return all
}
