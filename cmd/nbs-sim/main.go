// Nbs-sim is what tests and the demo run against instead of the outside world.
//
//	nbs-sim isolate -- CMD ARGS...   run a command in a network namespace with loopback only
//	nbs-sim api [--listen 127.0.0.1:0] [--port-file FILE] [--log-file FILE]
//	                                 a simulated Messages API; prints its URL, runs until TERM
//	nbs-sim telegram [--listen 127.0.0.1:0] [--port-file FILE] [--token T] [--privacy] [--rates]
//	                                 a simulated Bot API of Telegram; prints its URL, runs until TERM
//	nbs-sim telegram say --url URL [--chat 1] [--from N] [--topic N] [--reply-to N] [--file FILE --as photo] [--replies 1] [--wait 60s] TEXT
//	                                 write to the bot as a user, wait for so many replies and print them
//	nbs-sim telegram show --url URL [--chat 1]
//	                                 print what was said in a chat
//	nbs-sim telegram edit --url URL [--chat 1] --message N TEXT
//	nbs-sim telegram press --url URL [--chat 1] [--from N] --message N DATA
//	                                 change what a user wrote; press a button of the bot's
//	nbs-sim telegram user --url URL --id N [--username U] FIRST NAME
//	nbs-sim telegram group --url URL --id N [--kind forum] TITLE
//	nbs-sim telegram topic --url URL --chat N [--from N] NAME
//	                                 name a user, make a group, open a topic
//	nbs-sim telegram faults --url URL
//	                                 print what was wrong with the bot's requests
//	nbs-sim matrix [--listen 127.0.0.1:0] [--port-file FILE] [--token T]
//	                                 serve a simulated homeserver of Matrix until stopped; the URL is printed
//	nbs-sim matrix room --url URL --id ID [--invite] [--encrypted] USER...
//	                                 make a room of these users, with the bot
//	nbs-sim matrix say --url URL --room ID --from USER [--replies 1] [--wait 60s] [--thread EVENT] [--mention] [--file FILE --as m.image] TEXT
//	nbs-sim matrix show --url URL --room ID
//	nbs-sim matrix faults --url URL  write as a user, print a room, print what was wrong with the bot's requests
//	nbs-sim claude ARGS...           a stand-in for claude (also when started under the name "claude")
//	                                 under the names systemctl, loginctl and busctl: those of a simulated host
//	nbs-sim boot FILE                be the first process of a simulated host; tests start it
//	nbs-sim bench [FLAGS]            what nbs-worker costs, next to its floors; see --help
//	nbs-sim sleep [DURATION]         a child that does nothing; for ever without a duration
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"nbs-worker/internal/sim/hosts/boot"
	"nbs-worker/internal/sim/hosts/units"
	"nbs-worker/internal/sim/isolate"
)

const usage = `usage: nbs-sim isolate -- CMD ARGS...
       nbs-sim api [--listen 127.0.0.1:0] [--port-file FILE] [--log-file FILE]
       nbs-sim telegram [--listen 127.0.0.1:0] [--port-file FILE] [--token T] [--privacy] [--rates]
       nbs-sim telegram say --url URL [--chat 1] [--replies 1] [--wait 60s] TEXT
       nbs-sim telegram show|edit|press|user|group|topic|faults --url URL ...
       nbs-sim matrix [--listen 127.0.0.1:0] [--port-file FILE] [--token T]
       nbs-sim matrix room|say|show|faults --url URL ...
       nbs-sim claude ARGS...
       nbs-sim boot FILE
       nbs-sim bench [FLAGS]
       nbs-sim sleep [DURATION]
`

func main() { os.Exit(run(os.Args)) }

func run(args []string) int {
	switch name := filepath.Base(args[0]); {
	case name == "claude":
		return runClaude(args[1:])
	case slices.Contains(units.Names(), name):
		return units.Main(name, args[1:])
	}
	if len(args) < 2 {
		return misused("no command given")
	}
	switch args[1] {
	case "isolate":
		return runIsolate(args)
	case "api":
		return runAPI(args[2:])
	case "telegram":
		return runTelegram(args[2:])
	case "matrix":
		return runMatrix(args[2:])
	case "claude":
		return runClaude(args[2:])
	case "boot":
		return runBoot(args[2:])
	case "bench":
		return runBench(args[2:])
	case "sleep":
		return runSleep(args[2:])
	}
	return misused("unknown command " + args[1])
}

func runIsolate(args []string) int {
	command := args[2:]
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	return isolate.Exec(args, command)
}

func runBoot(args []string) int {
	if len(args) != 1 {
		return misused("boot takes one file")
	}
	return boot.Main(args[0])
}

func misused(why string) int {
	fmt.Fprintf(os.Stderr, "nbs-sim: %s\n%s", why, usage)
	return 2
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "nbs-sim:", err)
	return 1
}
