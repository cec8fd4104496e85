package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"

	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/platform/macos"
	"nbs-worker/internal/platform/tmux"
)

const toLaunchd = "nbs-worker export launchd --dir ~/Library/LaunchAgents"

// renewal replaces a tmux server.
func renewal(client *tmux.Client) string { return ended(client) + "nbs-worker recover --all" }

// handover replaces a tmux server by one of launchd, which brings the agents back once that answers. An agent that comes
// back earlier would start a server from this terminal again: by itself launchd waits a minute between two starts.
func (d *examination) handover(client *tmux.Client) string {
	team := export.Team{Socket: d.project.Socket, Project: d.project.Store.Project()}
	const start = "launchctl kickstart gui/%d/%s"
	return ended(client) + fmt.Sprintf(start+"; "+start, os.Getuid(), team.ServerName(), os.Getuid(), team.RecoverName())
}

// ended ends a tmux server.
func ended(client *tmux.Client) string {
	return "once no agent works: nbs-worker stop --all; tmux -S " + human.ShellWord(client.Path()) + " kill-server; "
}

// keptByLaunchd looks for tmux servers that launchd did not start. macOS 27 ends such a server with the terminal
// application, and one that was started over ssh cannot read the login keychain.
func (d *examination) keptByLaunchd(ctx context.Context) (all findings) {
	kept := map[int]bool{}
	running := false
	for _, client := range d.servers() {
		for _, socket := range []string{d.project.Socket, client.Path()} {
			service, err := macos.ServiceOf(ctx, export.Team{Socket: socket}.ServerName())
			if err != nil {
				return found(Note, "launchd does not answer: who ends the tmux server is unknown: "+human.OneLine(err.Error()), "")
			}
			kept[service.PID] = true
		}
		if pid, err := client.ServerPID(); err == nil {
			running = true
			if !kept[pid] {
				all = append(all, judgeServer(fmt.Sprintf("the tmux server, pid %d,", pid), macos.Release(ctx), d.handover(client))...)
			}
		}
	}
	if running {
		return all
	}
	login, err := macos.Login(ctx)
	return judgeNextServer(login, err, macos.Release(ctx))
}

// firstToEnd is the macOS that ends a tmux server with the terminal application in which it was started.
const firstToEnd = 27

// judgeServer reports what macOS does to a server that launchd did not start.
func judgeServer(what string, macOS int, handover string) findings {
	if macOS >= firstToEnd {
		return found(Warning, fmt.Sprintf("%s was not started by launchd: macOS %d ends it with the terminal application in which it was started", what, macOS),
			"when that application is closed, all agents end", toLaunchd, handover)
	}
	return found(Note, what+" was not started by launchd",
		fmt.Sprintf("if it was started over ssh, claude cannot read the login keychain, and has no login; macOS %d ends it with its terminal application", firstToEnd), toLaunchd)
}

// judgeNextServer reports on the server that the next agent would start from here.
func judgeNextServer(login string, unknown error, macOS int) findings {
	const what = "no tmux server runs yet, and one that is started from here"
	switch {
	case unknown == nil && login != macos.LoginAtScreen:
		return found(Warning, what+" cannot read the login keychain: this is not a login at the screen, but "+human.Quote(login),
			"claude has its login there", toLaunchd)
	case macOS >= firstToEnd:
		return found(Warning, what+" ends with this terminal application", "all agents would end", toLaunchd)
	}
	return found(Holds, "no tmux server runs yet", "")
}

// crashing is a tmux that ends with all of its agents when a client attaches in control mode.
const crashing = "3.6a"

// agedServers looks for tmux servers that an older tmux has started, and for a tmux that is known to crash.
func (d *examination) agedServers(ctx context.Context) (all findings) {
	client, err := tmux.Scratch(d.scratch)
	if err != nil {
		return found(Note, "tmux is not there: its servers were not checked", "")
	}
	installed, err := client.Version(ctx)
	if err != nil {
		return found(Note, "the version of tmux is unknown: "+oneLine(err), "")
	}
	if installed == crashing {
		all.add(Warning, "tmux "+crashing+" can crash when a client attaches in control mode, as iTerm2 does", "all agents of the server end", "brew upgrade tmux")
	}
	for _, client := range d.servers() {
		pid, err := client.ServerPID()
		if err != nil {
			continue
		}
		version, err := client.ServerVersion(ctx)
		switch {
		case err != nil:
			all.add(Warning, fmt.Sprintf("the tmux server, pid %d, does not answer this tmux, %s: %s", pid, installed, oneLine(err)), "its agents cannot be reached", renewal(client))
		case version != installed:
			all.add(Warning, fmt.Sprintf("the tmux server, pid %d, has version %s, and the installed tmux has %s", pid, version, installed),
				"macOS may refuse to start programs from an old server", renewal(client))
		}
	}
	return all
}

// weakerPromises says what nbs-worker knows on Linux, and cannot know on a Mac.
func (d *examination) weakerPromises(context.Context) findings {
	return found(Note, "on macOS, nbs-worker knows less of processes than on Linux", strings.Join([]string{
		"the environments of some programs are hidden: what an agent left running may be found by its process group only, or not at all,",
		"as a tool with a session of its own whose claude has ended, and the claude of a turn whose runner was killed;",
		"a claude that was started by hand under another program's name counts as a person;",
		"a signal goes to a pid, which is compared with the start of its process right before;",
		"an agent that was killed for its memory is not told from one that was killed otherwise;",
		"there are no control groups: no limit of memory for an agent",
	}, " "))
}

// sleeps looks at whether this Mac falls asleep while agents work.
func (d *examination) sleeps(ctx context.Context) findings {
	power, err := macos.PowerOf(ctx)
	if err != nil {
		return found(Note, "whether this Mac falls asleep is unknown: "+human.OneLine(err.Error()), "")
	}
	return judgeSleep(power)
}

// judgeSleep reports when a Mac falls asleep.
func judgeSleep(power macos.Power) (all findings) {
	const why = "asleep, it runs no agent; each goes on when it wakes up, perhaps with a lost connection"
	switch {
	case power.Disabled:
		return holding("this Mac does not sleep")
	case power.After > 0 && power.AwakeBy != "":
		all.add(Note, fmt.Sprintf("this Mac sleeps after %s without input, once these programs end: %s", human.Count(power.After, "minute"), human.Legible(power.AwakeBy)), why)
	case power.After > 0:
		all.add(Warning, fmt.Sprintf("this Mac sleeps after %s without input", human.Count(power.After, "minute")), why,
			"while agents work, in a terminal of its own: caffeinate -is", "to keep it awake on mains: sudo pmset -c sleep 0")
	}
	if power.Battery {
		all.add(Note, "this Mac sleeps while its lid is closed", why, "to keep it awake then too, while it has power: sudo pmset -a disablesleep 1")
	}
	if len(all) == 0 {
		return holding("this Mac does not sleep by itself")
	}
	return all
}
