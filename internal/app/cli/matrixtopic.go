package cli

const matrixTopic = `With the access token of an account that you have made for a bot, nbs-worker serve is a bridge to
Matrix, as it is to Telegram: nbs-worker help telegram says how a chat works, and what its
commands are. Each allowed room is a conversation with the key matrix:!ROOM, and each thread one
with the key matrix:!ROOM/$EVENT.

Log the bot in once, with any client, and put its access token into a file that only you can read
(--matrix-token-file), or into NBS_MATRIX_TOKEN. --matrix-homeserver is the server of its account,
which has to offer Matrix v1.11 or later.

Only rooms named with --matrix-room are served, and rooms in which a user named with --matrix-user
is alone with the bot. Without --matrix-user, everyone in the rooms may write. The bot accepts
invitations from the named users, and into the named rooms; what was written since the invitation
is answered. Everyone who may write has your rights, as in Telegram; --matrix-agents says where
the commands work that reach agents and files. A room is private while one user is alone with the
bot in it: without --matrix-user, that is anyone who is left in a named room.

In a room with several people, serve takes the messages that name the bot or answer it, and
commands. Write a command with ! instead of /, as in !new: clients keep /new for themselves.

A room must not be encrypted: serve cannot read such a room. It says so there, once, and to you.
A room that was replaced by another one is not followed: allow the new one.

serve records in .nbs/matrix.json up to where it has taken the messages, so that none is lost or
taken twice. An answer that is sent again after an interruption is one message; after more than 20
minutes, or with another token, it says that you may have it already.

--matrix-answers USER names who may answer what agents ask, and --matrix-needs ROOM the rooms that
are told what agents need; no room is told by default. The commands that reach agents must be on in
these rooms. Commands take the place of buttons: !approve ID, !deny ID, !answer ID 2; the message
of the need shows them.

For example:

  nbs-worker serve --matrix-homeserver https://matrix.example.org \
    --matrix-token-file token --matrix-user @ann:example.org
  nbs-worker tell 'matrix:!abc:example.org' 'The build is done.'

Telegram and Matrix may be served at once. There is no setup for Matrix, no check by serve check, no menu and no buttons: choices are lists
of commands.`
