package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"nbs-worker/internal/human"
	"nbs-worker/internal/team/skill"
)

// skill looks at the skills that nbs-worker has installed for the project and for the caller.
func (d *examination) skill(context.Context) (all findings) {
	places := []skill.Place{skill.InProject(d.project.Store.Project())}
	if config, err := d.callersConfig(); err == nil {
		places = append(places, skill.OfUser(filepath.Dir(config.SettingsFile())))
	}
	ours := d.Version
	for _, place := range places {
		version, changed := place.Installed()
		where := human.Quote(filepath.Dir(place.Page()))
		switch {
		case version == "":
		case changed:
			all.add(Note, "the skill in "+where+" was changed since nbs-worker wrote it", "agents do what is written in it",
				"to see the difference: nbs-worker skill show | diff "+human.ShellWord(place.Page())+" -",
				"to write it again: nbs-worker skill install"+place.Option()+" --force")
		case ours != "" && version != ours:
			all.add(Note, fmt.Sprintf("the skill in %s is of nbs-worker %s, and this is %s", where, human.Legible(version), ours),
				"agents learn from it what the other version does", "nbs-worker skill install"+place.Option())
		}
	}
	return all
}
