package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/hosts"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) {
	cuts, _ := strconv.Atoi(os.Getenv("NBS_HOST_CUTS")) // the test says what is wrong with it
	os.Exit(rig.Main(m, 15*time.Minute+time.Duration(cuts)*6*time.Second))
}

// fleet is a person's own machine, with a project on it, and the hosts that it reaches by ssh.
type fleet struct {
	*e2e.Team // of the person's own machine

	hosts map[string]*host
	bin   string // where the person's ssh is
}

// host is a machine that is reached by ssh. Its team's commands are run there without ssh.
type host struct {
	*e2e.Team

	machine *hosts.Host
}

// standIn is a fleet on the stand-in, with hosts of these names.
func standIn(t *testing.T, names ...string) *fleet {
	t.Helper()
	return newFleet(e2e.StandIn(t), rig.StandIn(t), names...)
}

// onReal is a fleet on the current Claude Code.
func onReal(t *testing.T, names ...string) *fleet {
	t.Helper()
	return newFleet(e2e.Real(t), rig.ClaudeBinary(t, rig.Newest), names...)
}

func newFleet(own *e2e.Team, claude string, names ...string) *fleet {
	own.Helper()
	f := &fleet{Team: own, hosts: map[string]*host{}}
	var machines []*hosts.Host
	for _, name := range names {
		machine := hosts.Start(own.T, name, own.API.URL(), "NBS_CLAUDE="+claude, "NBS_SIM_CLAUDE=", "PATH="+filepath.Dir(own.Worker)+":"+os.Getenv("PATH"))
		f.hosts[name] = &host{
			Team: &e2e.Team{
				T: own.T, World: machine.World, API: own.API, Worker: machine.Entrance(own.Worker), Env: machine.Variables, Dir: machine.Project,
			},
			machine: machine,
		}
		machines = append(machines, machine)
	}
	f.bin = hosts.Client(own.T, own.World.Home, machines...)
	f.Env = append(f.Env, "PATH="+f.bin+":"+own.Variable("PATH"))
	var known strings.Builder
	for _, name := range names {
		fmt.Fprintf(&known, "  %s:\n    destination: %s\n    folder: %s\n", name, name, f.hosts[name].Dir)
	}
	f.Write(filepath.Join(own.World.Home, ".config", "nbs-worker", "hosts.yaml"), "version: 1\nhosts:\n"+known.String())
	return f
}
