package cli

// securityTopic is held sentence by sentence: see promises in its test.
const securityTopic = `Everything runs as you. This is promised, and against whom; a test holds each sentence:

Against a project of unknown origin:

Nothing in a project decides anything by itself. Each record has a seal, made with a key outside of
all projects ($XDG_STATE_HOME/nbs-worker/key). A record without your seal, for example from a clone,
is listed as not allowed. A verb that would start something from it ends with 8 instead. A verb that
ends processes trusts only the marks of the processes themselves. No transcript is archived,
restored or removed because of such a record. A pause without your seal does not count. A runbook of
the project runs only as you have allowed it there, and links in its folder are not followed. A
team.yaml starts and stops only what you have allowed in it. Git runs no program that only a
repository names: no hook, filter, diff tool or transport. allow asks on a terminal only, and shows
what would run right above its question. No turn is taken in a folder that Claude does not trust.
Git ignores .nbs, whatever the repository's own lists say.

Against an agent:

Each verb declares the right that it needs, and opens no project without one. The caller is found by
the processes above the command; its environment gives it no rights. In another project, an agent
sees only states, and can reach no agent. An agent can give a colleague no more than it has: its own
permission mode, arguments, variables and folder. More needs --may-manage, which only a person
gives. A turn that an agent asks for runs with that agent's rights, in conversations of its own,
whichever process takes it. It is not taken when its agent was dismissed or has other rights by
then. The turns of agents take no place from yours. An agent stops, interrupts and changes no
colleague that may do more than itself. It answers no request of an agent, its own included, without
--may-manage, and then allows only what its own permission mode does without asking. No file is read
for an agent, and none is written to a path that it names. What an agent says arrives under its
name, on every way. A first prompt of an agent cannot be a command of Claude's (/, !, #) and cannot
name files with @. A text that no person typed on a command line cannot name files either. No error
quotes a file that was named. A claude that was started by hand is such a caller too, with the
rights of its command line. Where those are unknown, it can give nothing. The user's own status line
is run only from the record's folder and configuration, and never from a file that others can write.
The settings of each claude deny edits below .nbs/, and of the keys and transcripts outside of it. A
record or a lease moves only when Claude's registry, for that very process, says so.

Against a chat:

No chat is served without --telegram-chat or your yes in serve setup telegram. What it kept counts
only with your seal. The bot's token is outside of all projects, and no tool of an agent reads it.
Everyone who writes in an allowed chat has your rights: Claude answers with your settings.
--telegram-user limits this to the named users, in all chats or in one. /send and /resume, which
reach your agents, and /file, which sends files of the project but none that is hidden or named like
keys, are off without your yes or --telegram-agents. In Matrix, no room is served without
--matrix-room, or --matrix-user for the room of that user and the bot alone. An invitation of
another user is not accepted.

Between your machines:

An agent adds and uses no host. A project names no host: they are in your own hosts.yaml. A
hosts.yaml that others can change is refused. Each word of a command arrives at a host as it was
typed. ssh asks nothing, shares no connection and forwards no port.

Against other users:

Files that they wrote are not read. Their processes never count as strangers. Their sockets are not
connected to. All files of nbs-worker are for their owner only. The environment and the secrets of a
start are on no command line.

Against text:

Names, paths, screens and words of a model reach tmux only as single arguments, and never a shell.
When printed, characters that could control a terminal, hide, or look like a line of the program are
spelled out. In JSON they are escaped.

What is not promised: a program of yours can do everything that you can. An agent that bypasses
permissions, or may run any command, can read the key, write records and end processes. In a tmux
server of its own it has your rights, like you there. Run what you do not trust as another user, or
in a container. Other users can read the first prompt of an agent
on claude's command line, and the text of ask, send and tell on that of nbs-worker; with - it is
read from stdin instead. The seal of memory.db covers its identity, not its content. A seal has no
date and no place: an earlier state of a record that was once sealed is valid again, and so is a
copy of it in another folder, which names the same conversation and works in the same place. The
journal shows that it was changed, not by whom. A service that is started at boot also accepts a
pause without your seal. Within its project, an agent sees what its colleagues say and do. run,
--claude and the programs on your PATH are as trustworthy as their source.`
