package cli

const conversationsTopic = `Chats, scripts and schedules need no terminal. A key names a conversation, and each text is one
turn of it:

  nbs-worker ask review 'Remember 42.'
  nbs-worker ask review 'What number?' --json
  nbs-worker conversation history review     # what was said
  nbs-worker conversation reset review       # a new session; restore goes
                                             # back
  nbs-worker ask @critic 'What is left?'     # an agent, in its terminal

The turns of a key are answered one after the other. An accepted text is on disk before anything
is sent. After a kill the turn is looked up in the transcript, and a text that is there is not sent
again. What a tool had done when its claude was killed cannot be known: then a person decides. Each
answer says whether the conversation is new, resumed or reset.

A turn is kept if Claude is not logged in, its API stays down, or its runner is killed again and
again. It is tried again at the next text of its conversation, when serve starts, and in pauses of
15 minutes to 4 hours; the chat is told once. nbs-worker conversation retry --all tries all held
turns now. Before that Claude asks an API that refuses it again by itself; meanwhile conversation
show says so, and /status in a chat.

A turn may take as long as it works. It is ended only if Claude gives no sign of life for ten
minutes (--turn-timeout) while no tool runs. conversation interrupt stops it, as /stop and ! do in
a chat. What is told then names the tools that had run, and the conversation goes on.

What Claude may do is what your Claude settings say, until you say it. The first turn decides for
its conversation, serve for all chats, an entry for its schedule: nbs-worker help permissions.

  nbs-worker ask diary 'Write it down.' --allowed-tools Read,Edit,Write
  nbs-worker ask diary 'What would you change?' --permission-mode plan
  nbs-worker ask diary --command '/daily now'

nbs-worker serve keeps the conversations used last warm, runs schedules (nbs-worker help schedule),
and is a bridge to Telegram and Matrix: nbs-worker help bot sets one up. If claude is killed in the
middle of a turn, or serve, the answer still arrives, and the conversation goes on:

  User:  Remember 42.
  Agent: OK.
  User:  What number, once more?
  $ kill -9 31634    # claude
  Agent: 42.
  $ kill -9 31610    # serve, which is started again
  User:  What number?
  Agent: 42.

The system prompt, which keeps a chat's voice, goes with every turn. --enrich and --context-cmd give
Claude more with each text: nbs-worker help ask.`
