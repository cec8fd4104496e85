package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/caller"
)

// topics returns the help topics: what concerns several verbs of root, or is rarely needed.
func topics(root *cobra.Command) []*cobra.Command {
	codes := ui.WithCodes(exitCodesTopic, agent.Mapped(ui.ExitCodes, func(row ui.ExitCode) fail.Kind { return row.Code })...)
	return []*cobra.Command{
		{Use: "projects", Short: "Explain which folder is the project", Long: projectsTopic},
		{Use: "files", Short: "List the files of nbs-worker", Long: filesTopic},
		{Use: "environment", Short: "List the environment variables", Long: environmentTopic},
		{Use: "exit-codes", Short: "Explain the exit codes", Long: codes},
		{Use: "shells", Short: "Explain completion in bash, zsh and fish", Long: shellsTopic},
		{Use: "states", Short: "Explain the states of agents and of a context", Long: statesTopic},
		{Use: "attention", Short: "Explain how you notice and answer what agents need", Long: attentionTopic},
		{Use: "night", Short: "Explain how a team survives a night or a reboot", Long: nightTopic},
		{Use: "restarts", Short: "Explain restart policies and holds", Long: restartsTopic},
		{Use: "policy", Short: "Explain the policy file of watch", Long: policyTopic},
		{Use: "budgets", Short: "Explain what a budget holds, and when it lets go", Long: budgetsTopic},
		{Use: "worktrees", Short: "Explain the worktrees of agents, and their removal", Long: worktreesTopic},
		{Use: "rights", Short: "Explain what agents may do with nbs-worker", Long: fmt.Sprintf(rightsTopic, verbsByRight(root))},
		{Use: "security", Short: "Explain what is promised, and against whom", Long: securityTopic},
		{Use: "permissions", Short: "Explain what Claude may do in a conversation", Long: permissionsTopic},
		{Use: "conversations", Short: "Explain conversations without a terminal", Long: conversationsTopic},
		{Use: "bot", Short: "Set up a bot for three chats, step by step", Long: botTopic},
		{Use: "telegram", Short: "Explain the bridge to Telegram", Long: telegramTopic},
		{Use: "matrix", Short: "Explain the bridge to Matrix", Long: matrixTopic},
		{Use: "hosts", Short: "Explain agents at other machines", Long: hostsTopic},
		{Use: "slurm", Short: "Explain agents that are jobs of a cluster", Long: slurmTopic},
	}
}

const exitCodesTopic = `Every command ends with one of these codes. They are part of the interface and do not
change. 0 means that the result was observed, not only that a request was sent. A verb that
acts on several agents ends with 7 if some succeeded; otherwise with the code that all
failures share, or with 1.

A host that cannot be reached ends a command with 3 if that may pass by itself: it is off, slow,
or was cut off. It is 6 if that does not pass: its name or its key is not known, it does not let
you in, or it has no nbs-worker. --hosts ends with 7 if some places answered and others did not.`

const environmentTopic = `Read:
  NBS_ROOT             the project root, like --root
  NBS_TMUX_SOCKET      the tmux server for new agents, like --tmux-socket
  NBS_CLAUDE           path of claude (default: claude on the PATH)
  NBS_MODEL            default for spawn --model
  NBS_PERMISSION_MODE  default for spawn; without it bypassPermissions
  NBS_CONTEXT_BANDS    three percentages of context left: from the first
                       down it is low, below the second critical, below the
                       third at the floor (default: 25,15,10)
  NBS_WORKTREES        where spawn --worktree makes worktrees, an absolute
                       path (default: beside the repository, in
                       <repository>.nbs)
  CLAUDE_CONFIG_DIR    Claude's configuration; recorded by spawn
  XDG_STATE_HOME       its nbs-worker/ holds your state outside of all
                       projects: the key of the seals, limits.json,
                       archived transcripts (transcripts/), the tokens of
                       bots (telegram/), the ends of the journals
                       (default: ~/.local/state)
  XDG_RUNTIME_DIR      its nbs-worker/ passes the environment of a start to
                       the launcher (if it is not a private folder: run/ in
                       your state folder)
  NO_COLOR             no colours

claude gets the environment of spawn or resume, through a private file that is read once and
removed. It does not get the variables that Claude sets for the shells of its tools: with
them, an agent started by another agent would write no transcript.

The environment is not recorded. Export ANTHROPIC_API_KEY and the like for each call, also
in cron jobs. spawn --env records variables, but refuses those that load code or change what
runs (LD_*, BUN_*, NODE_OPTIONS, BASH_ENV, PATH, GIT_SSH, IS_SANDBOX, CLAUDE_CODE_SANDBOXED
and the like): they can only come from the caller's environment.

Set for claude and everything that it starts:
  NBS_HANDLE           the agent's handle
  NBS_ROOT             the project root
  NBS_INVOCATION_ID    this start of the agent; marks its processes
  NBS_STATE            your state folder, even if XDG_STATE_HOME changes
  NBS_RUNTIME          the folder for launches; XDG_RUNTIME_DIR may change

Set by spawn and resume for the launcher only; do not set it yourself:
  NBS_LAUNCH           the start that the launcher is to carry out`

const statesTopic = `A live agent is in one of these states:
  starting   claude has been started and is not ready yet
  idle       it waits for a prompt
  busy       it works on a turn
  waiting    it asks a person: a permission, a question, a first-run dialog
  retrying   the API refused a request, and claude tries again
  failed     it is idle, and its last turn failed
  unknown    a query got no answer; this does not mean dead

A host, and no agent, is unreachable: it does not answer. Its agents go on, and are shown as they
were when it last answered.

An agent that should run and does not is shown with the cause:
  exited         it ended by itself, with code 0
  crashed        it ended with another code, or by a signal
  lost: reboot   the machine was restarted
  lost: tmux     its tmux server is gone
  killed: probably out of memory
                 the kernel reported an out-of-memory kill
  never started  it has a record, and no start
  backoff        its launcher starts it again, and session shows when; or
                 its job waits in the queue of Slurm

An agent that nbs-worker ended is stopped. An agent whose restarts are held stays down until
you resume it: nbs-worker help restarts.

An agent needs a person for one of these reasons. If there are several, the first one counts:
  waits  it asks a person something, or is not logged in
  down   it does not run and should, or its record is not allowed
  short  little of its context is left, a usage limit ended its turn, or
         its budget is spent
  done   its turn has ended, and no person has looked since: by attach,
         next, screen, logs, changes, send or dash, or in its terminal

The context that is left is healthy, low (25% or less), critical (under 15%) or at the floor
(under 10%). NBS_CONTEXT_BANDS sets other limits. Context and cost are what Claude's status
line last reported; session reads them from the transcript if that is newer.`

const restartsTopic = `An agent's restart policy says when its launcher starts it again by itself, in the same
conversation, after claude ended:

  no           never (the default)
  on-failure   unless it exited with code 0
  on-abnormal  if a signal ended it
  always       also after an exit with code 0

After nbs-worker has stopped an agent, no policy starts it again. spawn --restart sets the
policy, and nbs-worker set <handle> restart=POLICY changes it.

The launcher waits 1, 2, 4 ... 60 s between starts, and until a usage limit ends. It holds
the agent after five failures in ten minutes, if claude is not logged in or refuses to
start, or if another claude has the conversation open. A held agent is not started
until you run nbs-worker resume or nbs-worker reset. nbs-worker session shows failures and
holds. nbs-worker pause suspends all restarts of a project.`

// rightsTopic has a place for the verbs by the right that they need.
const rightsTopic = `An agent may call nbs-worker itself. A call comes from an agent if the agent's claude is
among the processes above the command. Such a call is limited; a refusal ends with 8.

%s

Within its own rights means: an agent does nothing to a colleague that may do more than
itself, and gives a colleague no more than it has.

  spawn      the colleague gets at most the caller's permission mode (which
             is then the default), and the caller's own arguments,
             variables and folder. The prompt may not be a command of
             Claude's and may not name files with @. The only --prompt-file
             is -.
  resume     colleagues as they were; no --force, --fresh or --session-id
  dismiss    others only with --may-manage
  send       the message names its sender; --raw is not allowed
  ask        in conversations of its own: KEY becomes agent:HANDLE:KEY.
             For a new one it takes another KEY: only a person resets one.
             Claude runs with the agent's permission mode, arguments and
             folder. --permission-mode can only be narrower, and
             --allowed-tools needs bypassPermissions. --system-prompt only
             with --isolated; no --command, --context-cmd or CLAUDE-ARGS;
             --timeout is at most 1h, which is then the default. Its --id
             values are separate from yours.

No file is read for an agent, and none is written to a path that it names.

An agent that was spawned with --may-manage has no such limits, except for the verbs of a
person. It may also answer what agents ask (nbs-worker requests): it may deny, answer
questions, and approve what its own permission mode does without asking. In acceptEdits and
auto these are edits of files in its own folder, outside of hidden files and folders; in
bypassPermissions, everything. approve --always needs bypassPermissions.

A claude that was started by hand counts as an agent with the rights that its command
line shows.

Commands and agents that an agent starts get the environment of that agent's own start.
Agents can spawn until the project has 50 agents, at most three levels deep.
limits.json in your state folder sets other limits: {"agents": 50, "depth": 3}.`

// verbsByRight lists the verbs that help shows by the right that they need.
func verbsByRight(root *cobra.Command) string {
	titles := []struct {
		right caller.Right
		title string
	}{
		{caller.Anyone, "Any agent, of any project:"},
		{caller.Member, "An agent of the project:"},
		{caller.Within, "An agent of the project, within its own rights:"},
		{caller.Manager, "An agent that was spawned with --may-manage:"},
		{caller.Person, "Only a person:"},
	}
	var parts []string
	for _, t := range titles {
		var verbs []string
		for _, verb := range slices.Sorted(maps.Keys(powers)) {
			if cmd, _, err := root.Find(strings.Fields(verb)); powers[verb].Right == t.right && err == nil && !cmd.Hidden && cmd.HasParent() {
				verbs = append(verbs, verb)
			}
		}
		parts = append(parts, t.title+"\n  "+ui.Hanging(strings.Join(verbs, ", "), 2, 75))
	}
	return strings.Join(parts, "\n")
}

const permissionsTopic = `In a conversation there is no person whom Claude can ask for permission. A tool that needs one
is refused, and Claude goes on without it. What Claude may do is what your Claude settings say
(permissions), unless you say it:

  --permission-mode MODE
      plan               read and explore
      dontAsk            what rules allow
      default            the same, and what only reads
      acceptEdits        edit files in the folder too
      auto               what a second model allows
      bypassPermissions  everything
  --allowed-tools RULES
      these tools too, as for Claude itself: Read,Write,'Bash(git *)'

  ask        The first turn of a conversation sets them. A later turn can
             have others, for itself alone: if it gives a mode, the allowed
             tools of the conversation do not count in it.
             nbs-worker conversation reset changes them for good.
  serve      They are those of all chats, from the next message on, also of
             chats that were begun with others. Without them a chat has what
             your Claude settings say.
  schedules  permission_mode: and allowed_tools: of an entry. An entry with
             on_denied: fail counts as failed if a tool was refused.

nbs-worker conversation show prints what a conversation may do, and what it might do before.

After an answer, a note names the refused tools, also in a chat: "Claude was not permitted to
use Write." ask --json has them in denials, each with what it was to act on.

A command of .claude/commands (ask --command, command: of a schedule) may permit tools by
itself, in its allowed-tools. So only a person may have one run.

Claude's rules in a folder (.claude/settings.json) count only if you have answered Claude's
question whether it trusts that very folder. If you have not, ask and serve pass on Claude's
warning. An agent that asks can only narrow what it may do itself: nbs-worker help rights.`

const policyTopic = `nbs-worker watch --policy FILE reads a YAML file. If the file is in the project, where agents
can write, allow it first: nbs-worker allow --policy FILE. All keys are optional. These are
the defaults, except for notify: without it nothing is reported.

  agents: []            # handles; none: all of the project
  except: []
  max-level: 3          # 0 report, 2 compact, 3 resume, 4 new conversation
  every: 5m             # between checks of a busy agent
  patience: 15m         # how long a busy agent may show no progress
  repairs:
    per-hour: 12        # of all agents
    per-agent: 3        # of one agent, in an hour
  context:
    bands: 25,15,10     # percent left (NBS_CONTEXT_BANDS)
    compact: critical   # when an agent is compacted: low, critical, never
  notify:
    command: [/usr/local/bin/tell, --urgent]
    on: [waits, down, short, done, held, repaired, paused,
         unreachable, reachable]
    timeout: 10s
    per-hour: 30

The program of notify must not be in the project. watch runs it without a shell, with only
the variables that it needs to reach you, and with one JSON object on stdin, which
"nbs-worker schema" describes as notify. Each thing is reported once until it changes. If the
program fails, watch tries three times. waits, down, short and done are the reasons of
nbs-worker help states; short is also reported below 25% (low). held is reported for what only
a person can help otherwise, and for an agent that has used up its repairs. unreachable and
reachable are of hosts: watch --hosts uses only notify of its policy, which is in no project.

nbs-worker tell --notice sends these reports to a chat, through nbs-worker serve:

  notify:
    command: [/usr/local/bin/nbs-worker, --root, /srv/project,
              tell, telegram:1234, --notice]
    on: [waits, down, held]`
