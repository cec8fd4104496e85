package cli

const attentionTopic = `An agent needs you when it waits for an answer, is down, is short of context or at a usage limit,
or is done and you have not looked: nbs-worker help states. These tell you:

  nbs-worker                 alone, on a terminal: who needs you, what each
                             agent does, and the command to type next
  nbs-worker dash            a screen that stays open; y and N answer
  nbs-worker next            goes to the one that has needed you longest
  nbs-worker list --watch    keeps the list true; a line of JSON for each
                             change in a pipe
  nbs-worker status-line     one short line, for tmux or a prompt
  nbs-worker wait --for needs --any --all
                             for scripts
  nbs-worker watch           runs a program of yours, or writes to a chat:
                             nbs-worker help policy

For all your projects, in tmux.conf: a key for the next agent, and the line.

  bind-key N run-shell 'nbs-worker next --all-projects 2>&1'
  set -ag status-right \
    ' #(nbs-worker status-line --follow --all-projects)'

An agent in another permission mode than bypassPermissions asks before it acts. Its dialog is in
its terminal, and you can answer from any other one:

  nbs-worker requests                 # who asks for what, oldest first
  nbs-worker requests critic          # whole, with what an edit changes
  nbs-worker approve critic           # --always also adds Claude's rules
  nbs-worker deny critic 3f2a91bc --message 'Use make clean.'
  nbs-worker answer critic 2          # an option's number, label, or words

No key is typed into the dialog. An answer counts for the request with that id and for no other.
The first answer counts, here or in the terminal; the journal says who gave it.

On your phone, a bot sends you what each agent needs, with buttons for what it asks:
nbs-worker help telegram. Each message says later what became of it, and a reply to it is sent to
the agent. nbs-worker serve setup telegram asks who may answer, apart from who may write.`
