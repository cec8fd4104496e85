package cli

import (
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/dash"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/store/views"
)

func TestDashOfHostsIsForATerminal(t *testing.T) {
	withProjects(t, map[string]string{"down": "/"})
	t.Chdir(t.TempDir()) // without a project
	run("dash", "--hosts").want(t, fail.BadInput, "dash: this is not a terminal")
	run("dash", "--hosts", "--host=down").want(t, fail.BadInput, "--host and --hosts exclude each other")
	run("dash", "--host=down").want(t, fail.BadInput, "cannot be run at a host from here")
	withProjects(t, nil)
	run("dash", "--hosts").want(t, fail.NotFound, "dash: you have no hosts")
}

// The rows of a host come over the connection, and go when their agents are dismissed there.
func TestTheStreamOfAHost(t *testing.T) {
	far := newProject(t, uitest.Record("alpha"), uitest.Record("bob"))
	withProjects(t, map[string]string{"build1": far})
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	known, err := host.Load(os.Environ())
	rig.Must(t, err)
	l, err := link.Open(home, known[0], link.Limits{Contact: time.Minute, Parting: time.Minute})
	rig.Must(t, err)
	team, err := dash.Follow(nil, agent.DefaultBands, dash.Words{})
	rig.Must(t, err)
	fleet := dash.FollowHosts(t.Context(), team, []dash.Host{{
		Name: "build1", Far: dash.ByLink{Link: l}, Views: views.Of(home, "build1", ""), Words: dash.Words{Pull: func(*agent.PullRequest) string { return "" }},
	}})
	defer fleet.Close()
	until := func(rows int) dash.Sight {
		for {
			sight, err := fleet.Look(t.Context())
			rig.Must(t, err)
			if len(sight.Rows) == rows && sight.Places[0].Trouble == "" {
				return sight
			}
			rig.Must(t, fleet.Await(t.Context()))
		}
	}
	for _, row := range until(2).Rows {
		rig.Check(t, row.Host == "build1" && row.State == "never started" && row.Need != nil, "%+v", row)
	}
	run("dismiss", "alpha", "--host=build1").want(t, 0)
	rig.Equal(t, until(1).Rows[0].Handle, agent.Handle("bob"), "the one that is left")
}
