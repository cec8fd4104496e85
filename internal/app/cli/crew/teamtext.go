package crew

// teamText explains the team file.
const teamText = `team.yaml in the project root says which agents there are. nbs-worker up starts those that are
missing, diff compares them with the file, down stops them. team init writes the file from the
agents that there are. Agents can write in the project, so the file and the files that it names
count only as you have allowed them: nbs-worker allow --team. up asks on a terminal.

  version: 1
  name: The translators
  defaults:                 # for all agents that say nothing else
    permission_mode: acceptEdits
    restart: on-failure
  agents:
    alice:
      model: opus
      prompt: Read PLAN.md and begin.
      worktree: true        # a git worktree, on the branch nbs/alice
    bob:
      depends_on: [alice]   # started when alice is ready
      prompt_file: tasks/bob.md
  groups:
    writers: [alice, bob]   # nbs-worker up @writers

Details:

Then:

  nbs-worker up --trust                # starts what is missing
  nbs-worker diff                      # file and agents; 0: the same
  nbs-worker restart --rolling @writers
                                       # what the file says now
  nbs-worker down                      # the records stay
  nbs-worker changes alice --stat      # in commits or not
  git merge nbs/alice                  # afterwards changes says so

An agent may have, and the defaults too, except for what is marked with *:
  model            as spawn --model; default: Claude's choice, also if
                   NBS_MODEL is set
  permission_mode  how claude asks before it acts
  agent            an agent of Claude's, such as one in .claude/agents
  effort           low, medium, high, xhigh or max
  settings         Claude's own settings for it: fields, or a JSON file
  args             a list of more arguments for claude
  environment      variables; ${NAME} in a value is the variable of up's
                   caller, $${ is ${ itself. Not for secrets: claude
                   gets what is exported before up
  working_dir      where it works, from the project root
  worktree         true, or {branch: NAME, base: COMMIT, link: [NAME, ...],
                   setup: [PROGRAM, ARGUMENT, ...]}. Each name in link
                   becomes a link to the main tree. The program runs in
                   the new tree before claude starts, and again if the
                   agent was not recorded then
  restart          no, on-failure, on-abnormal or always
  memory           true: it is observed (nbs-worker help memory)
  budget           such as 5.00/day, or off; without it, what set has given
                   stays (nbs-worker help budgets)
  answers          false: only its terminal answers what it asks
  description *    for people
  profiles *       it starts only with up --profile, or if it is named
  prompt *         its first message
  prompt_file *    a file with it, from the folder of the team file
  depends_on *     a list, or {alice: {condition: idle}}

A condition is started, ready, idle (it waits for input) or first-turn-done. A file with a
mistake starts nothing: all mistakes are told, with line and column. Nothing in the file is run
by a shell, and there are no templates. For an editor: nbs-worker team schema > team.schema.json`
