package cli

const filesTopic = `In the project's .nbs/, for its owner only:

  sessions/<handle>.json   the record: all that is needed to bring the
                           agent back
  journal.jsonl            what was done to which agent
  status/<handle>.json     what claude reported through hooks and status
                           line, and the beginning of its last words; may
                           be lost without harm
  messages/                long messages, which agents read from there,
                           kept for 30 days
  outbox/                  messages that wait for their agent
  conversations/           the journal of each conversation without a
                           terminal
  deliveries/              the answers of the last 30 days and the waiting
                           turns; which answers a chat has been sent
  watch/paused.json        exists while the project is paused; has your
                           seal
  allowed/                 your seals for project files that decide what
                           runs, such as runbooks
  costs/                   what each agent has spent, by the totals that
                           Claude shows
  runs/                    the progress of unfinished runbook runs; each
                           agent's latest repair that did not help
  schedules.yaml           what runs when, written by you
  schedules/               when each entry last ran
  telegram.json            how the bot is set up; has your seal
  matrix.json              up to where the messages of Matrix were taken;
                           has your seal
  memory.db, memory/       the memory, a SQLite database; turns that hooks
                           have announced to the observer
  locks/                   leases and locks; the files are never removed

A project can come from anywhere, and agents write in it. What they must not reach is in your
private folder ~/.local/state/nbs-worker/ (XDG_STATE_HOME). The settings of each agent keep its
file tools from editing .nbs/ and from reading this folder:

  transcripts/  the archive: a second name (a hard link, or a copy on
                another disk) for each transcript of all projects, as
                <session-id>.jsonl, since Claude deletes its own after
                30 days without notice
  telegram/     the tokens of bots
  watch/        what a watch has recently done and reported
  journals/     the end of the chain of each project's journal
  projects/     where each project is; project forget removes one
  jobs/         what your other machines asked this one to run, and what
                became of it, for a day
  hosts/        what each host last showed, for when it does not answer;
                what ssh said
  watch-hosts/  what watch --hosts has told
  key           the key of the seals

The environment of a start lies in $XDG_RUNTIME_DIR/nbs-worker/, or in run/ of that folder, until
its launcher has read it.

In a container, three folders must be volumes, and none is of use without the others: the
project's .nbs; Claude's configuration (~/.claude and ~/.claude.json, or CLAUDE_CONFIG_DIR), which
holds the transcripts; and ~/.local/state/nbs-worker, which holds your key. Keep the project at the
same path in every container.`
