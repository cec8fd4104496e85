package cli

const botTopic = `A bot of your own, in Telegram: two people and the group of their family talk to one Claude, which
works in one folder of your machine. Nothing of it is reachable from outside: nbs-worker asks
Telegram for the messages. The captures are from a simulated Telegram.

1. The folder. Make one for the bot, and start claude there once: log in (/login) if you have not,
answer yes to its question whether you trust the folder (the first choice is no), and leave it with
C-c C-c.

  $ mkdir ~/family && cd ~/family && claude

2. The bot. In Telegram, write /newbot to @BotFather. It asks for a name and for a user name that
ends in bot, and answers with a token, such as 1234567890:AAE... In a group the bot takes
commands, answers to it, and messages that name it.

3. The setup. It asks for the token, waits until each of the three writes to the bot, and asks what
they may do:

  $ nbs-worker serve setup telegram
  A bot is made in Telegram: write /newbot to @BotFather, and answer what
    it asks.
  It then shows a token, such as 1234567890:AAE...
  Token (it is not shown):
  bot: @simulated_bot, "Simulated"
  token: kept in ~/.local/state/nbs-worker/telegram/simulated_bot.token
  Now write to @simulated_bot, from the chat to allow; it waits for 5m.
  In a group, add it as a member, and write: /start@simulated_bot
  Ann (@ann, user 1) wrote in Ann, chat 1: "Good morning!"
  Allow this chat? [y/N] y
  Allow another chat? [y/N] y
  Now write to @simulated_bot, from the chat to allow; it waits for 5m.
  In a group, add it as a member, and write: /start@simulated_bot
  Bob (user 2) wrote in the group Family, chat -5: "/start@simulated_bot"
  Allow this chat? [y/N] y
  May everyone in this group write to Claude? [y/N: only Bob] y
  Allow another chat? [y/N] y
  Now write to @simulated_bot, from the chat to allow; it waits for 5m.
  In a group, add it as a member, and write: /start@simulated_bot
  Carl (user 3) wrote in Carl, chat 3: "Hi, it is me"
  Allow this chat? [y/N] y
  Allow another chat? [y/N] n
  What may Claude do for the people who write there?
    1  talk, and read the files of this project
    2  also search the web and read its pages
    3  also change the files of this project
    4  everything that you can, without a question
  What your own Claude settings allow is allowed too.
  other rules: --permission-mode and --allowed-tools
    (nbs-worker help permissions)
  1 to 4 [1] 3
  May they also get files of this project, and write to your agents:
    /file, /send, /resume? [y/N] n
  unit: ~/.config/systemd/user/nbs-serve-family-7095bddb.service
  to run it now, and at each login: systemctl --user daemon-reload;
    systemctl --user enable --now nbs-serve-family-7095bddb.service
  to run it from boot, and after a logout: loginctl enable-linger
  @simulated_bot is set up: it serves everyone in the chats 1, -5, 3;
    what Claude may do: acceptEdits; allowed tools WebSearch, WebFetch
  /file, /agents, /send and /resume are off
  to check everything: nbs-worker serve check
  to try it in this terminal first: nbs-worker serve

What they wrote waits for the bot, and is its first messages. Interrupt the setup at any time, and
call it again to go on, or, when serve does not run, to allow another chat. A script gives flags
instead: nbs-worker help serve setup telegram.

4. A look. check finds what would keep the bot silent, and writes to no chat:

  $ nbs-worker serve check
  Bot
    ok       "~/family/.nbs/telegram.json" is yours:
             acceptEdits; allowed tools WebSearch, WebFetch
    ok       Telegram accepts the token: @simulated_bot
    ok       serve gets the bot's messages: it has no webhook
    ok       it reaches Ann, chat 1
    ok       it reaches the group Family, chat -5
    ok       it reaches Carl, chat 3
    ok       Telegram passes on all that is written in groups:
             privacy mode is off
    ok       Claude trusts the folder "~/family"
    ok       there are no schedules

and so on: whether serve runs, claude, its account, the disk.

5. The service. In a terminal, nbs-worker serve runs the bot until you press C-c. Its first lines
say what it serves. As a service it runs by itself: the setup has written a unit (on a Mac a
LaunchAgent), with --systemd (--launchd) or if you said yes. Run the commands that it printed, and
look again with nbs-worker serve check. If claude has an API key instead of an account, put
ANTHROPIC_API_KEY=... into ~/.config/nbs-worker/environment.

6. In the chat. Claude gets what is written, with pictures and files, and in a group what names the
bot or answers it. Its answer grows while it is written. The menu beside the text field has the
commands: nbs-worker help telegram. With --daily-limit 2, the setup begins no turn of a chat on a
day on which it has cost two dollars; --transcribe-cmd names a program that writes voice messages
down.

7. In the morning. What runs by itself stands in .nbs/schedules.yaml. This gives the family an answer
each morning; deliver_to has the number that serve prints for the chat:

  zone: Europe/Berlin
  schedules:
    morning:
      cron: "30 7 * * *"
      prompt: "What does calendar.md say about today?"
      deliver_to: telegram:-5

Allow it, and again after each change; then try it now:

  nbs-worker allow --schedules
  nbs-worker schedule run morning`
