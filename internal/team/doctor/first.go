package doctor

import (
	"cmp"
	"context"
	"fmt"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/launch"
)

func (d *examination) callersConfig() (claude.Config, error) {
	dir, err := d.project.CallersConfigDir()
	if err != nil {
		return claude.Config{}, err
	}
	return claude.ConfigAt(dir)
}

// firstStart reads from the caller's Claude configuration what a first start in a folder would ask.
func (d *examination) firstStart(folder string) (claude.FirstStart, error) {
	config, err := d.callersConfig()
	if err != nil {
		return claude.FirstStart{}, err
	}
	return config.ReadFirstStart(folder, d.project.Variable)
}

func (d *examination) login(_ context.Context) findings {
	first, err := d.firstStart(d.project.Store.Project())
	const why = "a new agent would wait for a person at its first dialog; spawn would exit with 8"
	switch {
	case err != nil:
		return found(Failure, oneLine(err), "claude would not start with that configuration", fail.HintsOf(err)...)
	case !first.Onboarded:
		return found(Warning, "Claude Code has not been set up for this user", why, "start claude once by hand, and answer its questions: claude")
	case !first.LoggedIn:
		return found(Warning, "claude has no account, key or provider here", why, "start claude once by hand, and type /login: claude")
	case first.AsksForKey:
		return found(Warning, "claude will ask whether to use the API key in the environment; its default answer is no", why, "start claude once by hand, and answer yes: claude")
	}
	return nil
}

// trust checks the folders of the agents or, if there are none, that of the next agent.
func (d *examination) trust(_ context.Context) (all findings) {
	const why = "an agent that starts there asks for that trust, and waits for a person"
	said := map[string]bool{}
	for _, row := range d.known() {
		config, err := d.project.ConfigOf(&row.Record)
		folder := cmp.Or(d.project.MovedWithProject(&row.Record), row.Record.LaunchCwd())
		if err != nil || said[folder] {
			continue
		}
		if first, err := config.ReadFirstStart(folder, d.project.Variable); err == nil && !first.Trusted {
			said[folder] = true
			all.add(Warning, fmt.Sprintf("claude does not trust the folder of %s: %s", row.Handle, human.Quote(folder)), why,
				"start claude there once by hand, and answer yes: claude", fmt.Sprintf("or trust the folder for the agent: nbs-worker resume %s --force %s", row.Handle, launch.TrustFlag(folder)))
		}
	}
	if len(d.known()) > 0 {
		return all
	}
	first, err := d.firstStart(d.project.Store.Project())
	if err != nil || first.Trusted {
		return nil // start.login says what cannot be read
	}
	return found(Note, "claude does not trust the folder "+human.Quote(d.project.Store.Project()), why,
		"start claude there once by hand, and answer yes: claude", "or trust the folder for a new agent: nbs-worker spawn HANDLE "+launch.TrustFlag(d.project.Store.Project()))
}

// hooks checks whether claude runs hooks, for the agents or, if there are none, for the next agent.
func (d *examination) hooks(_ context.Context) (all findings) {
	known, said := d.known(), map[string]bool{}
	var off []string
	for i := range known {
		off = append(off, d.project.HooksOff(&known[i].Record))
	}
	if config, err := d.callersConfig(); err == nil && len(known) == 0 {
		off = append(off, config.HooksOff(d.project.Store.Project(), nil))
	}
	for _, why := range off {
		if why != "" && !said[why] {
			said[why] = true
			all.add(Warning, "claude runs no hooks of nbs-worker: "+human.Legible(why),
				"commands cannot answer what an agent asks, and less is known of its turns", "to allow hooks, change that file")
		}
	}
	return all
}
