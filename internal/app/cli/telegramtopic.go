package cli

const telegramTopic = `nbs-worker serve setup telegram sets up a bot, step by step; nbs-worker serve is then a bridge to
Telegram. Each allowed chat is a conversation with the key telegram:ID, and each topic of a group
one with the key telegram:ID/TOPIC. nbs-worker serve check says whether all is well.

Flags of the setup are kept with it: --daily-limit, --enrich, --model, --transcribe-cmd and more.
A flag of serve counts before what is kept. Without the setup, flags of serve say all of it. Put
the token into a file that only you can read (--telegram-token-file), or into NBS_TELEGRAM_TOKEN.
Only chats named with --telegram-chat are served. To find the number of a chat, write to the bot:
serve prints it.

Everyone who writes in an allowed chat has your rights: Claude answers with your settings and
what serve permits (nbs-worker help permissions), in this project. They may also choose the
model, the dearest too: --daily-limit bounds the cost. Your answer in the setup, or
--telegram-user CHAT:USER, limits a group to the named users. --telegram-user USER does it for
all chats; each of these users may also write to the bot alone. One who writes without their
name, such as an anonymous administrator, is not one of the named users.

In a group, serve takes the messages that name the bot or answer it, and commands;
--telegram-group-all (in the setup: --group-all) takes all of them. Then Telegram must pass them
on: write /setprivacy to @BotFather, and add the bot to the group again. Claude is told who
speaks, and what is quoted. A group that becomes another chat (a supergroup) keeps its
conversation.

Claude sees pictures, and may read files of up to 20 MB: they are kept in .nbs/conversations. An
album is one message, and so is a text that the app has split. An edit replaces the text of a
message that Claude does not have yet; a later one is refused with a word. --transcribe-cmd names
a program for voice messages: it gets the path of the recording, and prints the words. Stickers,
videos and locations are not taken.

Commands in a chat:
  /stop     stop what Claude is doing, as does a message that is only !
  /new      begin a new conversation; /new now stops Claude first
  /back     go back to the conversation before
  /sessions list the sessions of the chat, or go back to the named one
  /name     name the present session
  /status   show the state of the conversation
  /model    show the model, or choose another one
  /usage    show what the chat has cost; serve --daily-limit bounds a day
  /file     send a file of the project to the chat
  /agents   list the agents
  /send     send a message to an agent
  /resume   resume an agent
  /approve  allow what an agent asks for, by its ID
  /deny     refuse what an agent asks for
  /answer   answer the question of an agent

/file, /agents, /send and /resume are off until you say where they work: in the setup, or with
--telegram-agents private or all (with groups). A chat gets no hidden file (.netrc), and no file
named as keys are: *.env, *.pem, *.key, *.p12, *.pfx, *.kdbx, *.ppk, id_rsa and the like,
credentials. An answer has the format that Claude gave it. It grows in the chat while Claude writes it, and shows which tool runs. One of more than
five messages comes as its beginning, and whole as a file.

If you say so in the setup, or with --telegram-answers USER (there: --answers), that user is told,
alone with the bot, what your agents need, and answers what they ask with the buttons of the
message: permissions and questions. A user who may write may not answer unless you say so; by
default, no one may. --telegram-needs CHAT tells another chat instead, such as a group; the press
of a user who may not answer is refused with a word there. The commands that reach agents must be
on in these chats. Each need is told once, unless you have seen it (attach, logs, send, next). The
message says later what became of it, also if you answered at your desk; a press that comes too
late says so. A reply to such a message is sent to its agent.

If a chat's conversation is lost, serve begins a new one and tells the chat. nbs-worker tell
writes to a chat.`
