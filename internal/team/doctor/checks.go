package doctor

import (
	"context"

	"nbs-worker/internal/team/inspect"
)

// check is one check of doctor.
type check struct {
	id      string
	holds   string // what the check says if it finds nothing wrong
	project bool   // it needs a .nbs
	system  string // the only one that it is about, as Go names it; "": each
	// volatile marks a check of something that other commands change: its findings are checked a second time before
	// they are reported.
	volatile bool
	run      func(d *examination, ctx context.Context) findings
}

// ofEach returns a check that looks at the agents one by one.
func ofEach(which func(*examination) []inspect.Row, look func(*examination, inspect.Row) findings) func(*examination, context.Context) findings {
	return func(d *examination, _ context.Context) (all findings) {
		for _, row := range which(d) {
			all = append(all, look(d, row)...)
		}
		return all
	}
}

// checks are all checks, in the order of the report.
var checks = []check{
	{id: "claude.found", run: (*examination).claudeFound},
	{id: "claude.version", run: (*examination).claudeVersion},
	{id: "claude.root", holds: "claude starts agents that bypass permissions", run: (*examination).rootWithoutSandbox},
	{id: "claude.skill", holds: "installed skills are of this version, and unchanged", run: (*examination).skill},
	{id: "claude.probe", run: (*examination).probe},

	{id: "start.login", holds: "claude has an account or a key", run: (*examination).login},
	{id: "start.trust", holds: "claude trusts the folder", run: (*examination).trust},
	{id: "start.hooks", holds: "claude runs hooks", run: (*examination).hooks},

	{id: "tmux.version", run: (*examination).tmuxVersion},

	{id: "folder.project", run: (*examination).projectFolder},
	{id: "folder.disk", run: (*examination).disk},
	{id: "folder.locks", holds: "file locks work", project: true, run: (*examination).fileLocks},
	{id: "folder.state", holds: "the folders outside the project are private and can be written", run: (*examination).outside},
	{id: "folder.private", holds: "the files in .nbs belong to this user, and no other user can read them", project: true, run: (*examination).private},

	{id: "logout.server", system: "linux", holds: "the tmux server outlives the login in which it was started", run: (*examination).outlivesLogin},

	{id: "mac.server", system: "darwin", holds: "launchd keeps the tmux server", run: (*examination).keptByLaunchd},
	{id: "mac.tmux", system: "darwin", holds: "the tmux servers have the version of the installed tmux", run: (*examination).agedServers},
	{id: "mac.sleep", system: "darwin", run: (*examination).sleeps},
	{id: "mac.promises", system: "darwin", run: (*examination).weakerPromises},

	{id: "team.paused", holds: "the project is not paused", project: true, run: (*examination).paused},
	{id: "team.health", holds: "no agent needs attention", project: true, volatile: true, run: (*examination).health},
	{id: "team.launchers", holds: "the launchers of the agents are of this version", project: true, volatile: true, run: (*examination).otherLaunchers},
	{id: "team.renamed", holds: "no rename was left incomplete", project: true, volatile: true, run: ofEach((*examination).known, (*examination).halfRenamed)},
	{id: "team.leaving", holds: "no agent is between two machines", project: true, volatile: true, run: (*examination).leaving},
	{id: "team.moved", holds: "each record names the conversation that its agent is in", project: true, volatile: true, run: ofEach((*examination).known, (*examination).moved)},
	{id: "team.transcripts", holds: "the transcripts of the agents are complete", project: true, volatile: true, run: ofEach((*examination).known, (*examination).damagedTranscripts)},
	{id: "team.keeping", holds: "Claude will not delete the transcript of an agent within a week", project: true, volatile: true, run: ofEach((*examination).known, (*examination).endingTranscripts)},
	{id: "team.trees", holds: "each worktree that was made for an agent is in its place, and locked", project: true, volatile: true, run: (*examination).trees},
	{id: "team.unrecorded", holds: "each claude of this project has a record", volatile: true, run: (*examination).unrecordedClaudes},
	{id: "team.sessions", holds: "each tmux session of this project has a record", volatile: true, run: (*examination).unrecordedSessions},

	{id: "conversations.readable", holds: "each conversation can be read", project: true, volatile: true, run: (*examination).damagedConversations},
	{id: "conversations.waiting", holds: "no turn of a conversation waits for a person", project: true, volatile: true, run: (*examination).deadLetters},
	{id: "conversations.left", holds: "no claude was left over from a turn", volatile: true, run: (*examination).leftTurns},

	{id: "left.journal", holds: "the journal is unchanged", project: true, volatile: true, run: (*examination).brokenJournal},

	{id: "environment.agents", holds: "each agent writes its transcript", project: true, volatile: true, run: ofEach((*examination).live, (*examination).forgetfulAgents)},
	{id: "environment.names", holds: "the variables with which the agents were started are set here too", project: true, run: (*examination).missingNames},
}
