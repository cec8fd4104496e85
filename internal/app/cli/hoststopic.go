package cli

const hostsTopic = `A host is another machine of yours with a project, reached by your own ssh without a password. It
needs Linux, tmux and Claude Code. Its agents run there, by the nbs-worker there, and go on when this machine sleeps.

  nbs-worker host add build1 me@build1.example.org --folder app --install
  nbs-worker host check build1           # what is missing, and what helps
  nbs-worker spawn alice@build1 --prompt 'Read PLAN.md and begin.'
  nbs-worker list --hosts                # here and at all hosts
  nbs-worker send alice@build1 'Only chapter 2.'
  nbs-worker attach alice@build1         # to leave: C-b, then d
  nbs-worker move alice@build1 --to here
  nbs-worker host enable build1          # agents come back after a reboot

Names:
  alice@build1   the agent alice at the host build1, as a handle
  --host build1  run the command there
  --hosts        what is here and at all hosts: list, requests, triage,
                 cost, search, next, dash; and watch, which repairs
                 nothing there
  here           this machine: move --to here, and in what is printed

Files and folders that a command names, and --root, are those of the host. A text from a pipe goes over:
send alice@build1 -. Your hosts are in ~/.config/nbs-worker/hosts.yaml, and of no project.
Only a person may use hosts; an agent acts at its own machine.

A cut connection loses nothing and repeats nothing. A command has an id, and the host runs it once,
as a process of its own. After a cut nbs-worker connects again, for 30 s, and goes on at the byte
that was missing. If that fails, the error names the command that asks later what became of it:
nbs-worker host result build1 ID. A host that does not answer within 10 s is unreachable, never
dead: --hosts shows its last rows, with their age.

A command that waits for a host says so after 2 s, and says when it connects again. The first
connection may take two minutes, since a slow network is not a dead one; Ctrl-C ends that at once.
attach comes back by itself when this machine wakes up; Ctrl-C ends the attempts. wait, logs
--follow and list --watch go on where they were, for up to a day, or until they have printed 256 MiB
that were not read. What was read takes no space at the host.

An agent is at one machine at a time. A move that was killed is completed by the same command:
nbs-worker help move.

With --json, a command for one host prints what it prints there. --hosts, and a command for agents
of several places, print {"hosts":[...]}: per place "host", "unreachable", "exit_code", "error",
and "result", the JSON of that place, or null.

For scripts, of a host that is not reached: 3 if that may pass by itself, 6 if not, and 7 if other
places answered. More: nbs-worker help exit-codes, and nbs-worker help host.`
