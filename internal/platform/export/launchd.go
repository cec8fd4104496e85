package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"howett.net/plist"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Plist ends the name of a property list of launchd.
const Plist = ".plist"

// launchAgent is a service of launchd, with the keys of launchd.plist(5).
type launchAgent struct {
	Label                  string
	ProgramArguments       []string
	EnvironmentVariables   map[string]string
	LimitLoadToSessionType string
	ProcessType            string
	RunAtLoad              bool
	KeepAlive              any `plist:",omitempty"`
	ThrottleInterval       int `plist:",omitempty"` // seconds from one start to the next
	ExitTimeOut            int // seconds from SIGTERM to SIGKILL
	AbandonProcessGroup    bool
	SoftResourceLimits     map[string]int
	StandardOutPath        string
	StandardErrorPath      string
}

// Launchd returns the LaunchAgents of the agents' tmux server, their recovery, the watch, and the server of
// conversations. They belong to the user's login at the screen, since only processes of that login can read the login
// keychain, where claude keeps its own login. Errors: BadInput for text that a property list cannot hold.
func (t Team) Launchd() ([]Unit, error) {
	const aMinute = 60
	server := t.launchAgent(t.ServerName(), serverScript, t.tmux()...)
	server.KeepAlive, server.ThrottleInterval = true, aMinute
	recovery := t.launchAgent(t.RecoverName(), keysScript+waitScript+execScript, t.afterServer(t.Pause, t.words("recover", "--all"))...)
	watch := t.launchAgent(t.WatchName(), keysScript+waitScript+keptScript, t.afterServer("", t.watchWords())...)
	serve := t.launchAgent(t.ServeName(), keysScript+keptScript, append([]string{t.Program}, t.words("serve")...)...)
	for _, kept := range []*launchAgent{&watch, &serve} {
		kept.KeepAlive, kept.ThrottleInterval = map[string]bool{"SuccessfulExit": false}, aMinute
	}
	var units []Unit
	for _, a := range []launchAgent{server, recovery, watch, serve} {
		unit, err := a.unit()
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}

// serverScript runs tmux in the foreground: a server that makes itself a daemon leaves the login. It ends at once while
// another program has started the server, and launchd starts it again later.
const serverScript = `if "$@" list-sessions >/dev/null 2>&1; then exit 0; fi
exec "$@" -D
`

// keysScript reads API keys and the like: NAME=value lines, which only the user can read.
const keysScript = `keys=${XDG_CONFIG_HOME:-$HOME/.config}/nbs-worker/environment
if [ -r "$keys" ]; then
	while IFS= read -r line || [ -n "$line" ]; do
		case ${line%%=*} in
		"$line" | '' | [0-9]* | *[!A-Za-z0-9_]*) ;;
		*) export "$line" ;;
		esac
	done <"$keys"
fi
`

// waitScript goes on once the tmux server answers, or after half a minute without it: launchd starts
// all services at once. It ends while the project is paused: a pause outlives a login.
const waitScript = `pause=$1 tmux=$2 option=$3 socket=$4
shift 4
if [ -n "$pause" ] && [ -e "$pause" ]; then exit 0; fi
tries=30
until "$tmux" "$option" "$socket" list-sessions >/dev/null 2>&1 || [ "$tries" -eq 0 ]; do
	tries=$((tries - 1))
	sleep 1
done
`

const execScript = `exec "$@"
`

// keptScript runs a program that launchd starts again when it fails. launchd has no list of exit codes after which it
// does not, so the script succeeds then, and says so in the log. $0 is the name of the service. A signal ends the
// program, and the script waits for that.
const keptScript = `ended=
trap 'ended=1; kill -TERM "$pid" 2>/dev/null' HUP INT TERM
"$@" &
pid=$!
if [ -n "$ended" ]; then kill -TERM "$pid"; fi
while ended=; wait "$pid"; code=$?; [ -n "$ended" ]; do :; done
case " ` + lastingCodes + ` " in
*" $code "*)
	echo "$0 has ended with exit code $code, and is not started again before you have mended that and typed: launchctl kickstart gui/$(id -u)/$0"
	exit 0 ;;
esac
if [ "$code" -eq 130 ]; then exit 0; fi
exit "$code"
`

// tmux returns the command line of the tmux server.
func (t Team) tmux() []string { return append([]string{t.Tmux}, t.socket()...) }

// afterServer returns the words of [waitScript] and of the program that follows it.
func (t Team) afterServer(pause string, args []string) []string {
	return slices.Concat([]string{pause}, t.tmux(), []string{t.Program}, args)
}

func (t Team) launchAgent(name, script string, words ...string) launchAgent {
	const openFiles = 10_240 // the most that macOS lets a user set; claude watches many files
	const likeClaude = 90    // the time in which each claude can end by itself
	env := map[string]string{"LC_ALL": "en_US.UTF-8"}
	for _, variable := range t.Env {
		key, value, _ := strings.Cut(variable, "=")
		env[key] = value
	}
	log := t.log(name)
	return launchAgent{
		Label:                  name,
		ProgramArguments:       append([]string{"/bin/sh", "-c", script, name}, words...),
		EnvironmentVariables:   env,
		LimitLoadToSessionType: "Aqua",
		ProcessType:            "Interactive", // macOS would slow agents down otherwise
		RunAtLoad:              true,
		ExitTimeOut:            likeClaude,
		AbandonProcessGroup:    true, // agents that it has started go on after it ends
		SoftResourceLimits:     map[string]int{"NumberOfFiles": openFiles},
		StandardOutPath:        log,
		StandardErrorPath:      log,
	}
}

func (t Team) log(name string) string { return filepath.Join(t.Logs, name+".log") }

// MakeLogs makes the files to which launchd's services print: launchd would let other users read them.
func (t Team) MakeLogs() error {
	if err := os.MkdirAll(t.Logs, 0o700); err != nil {
		return err
	}
	for _, name := range []string{t.ServerName(), t.RecoverName(), t.WatchName(), t.ServeName()} {
		file, err := os.OpenFile(t.log(name), os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			err = errors.Join(file.Chmod(0o600), file.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unit returns the property list of a service.
func (a launchAgent) unit() (Unit, error) {
	words := append(slices.Clone(a.ProgramArguments), a.Label, a.StandardOutPath)
	for name, value := range a.EnvironmentVariables {
		words = append(words, name+"="+value)
	}
	for _, word := range words {
		if strings.ContainsFunc(word, isNotXML) || !utf8.ValidString(word) {
			return Unit{}, fail.Errorf(fail.BadInput, "a property list of launchd cannot hold %s", human.Quote(word)).
				Hint("use a path and variables without control characters")
		}
	}
	text, err := plist.MarshalIndent(a, plist.XMLFormat, "\t")
	if err != nil {
		return Unit{}, err
	}
	// No text between two tags needs these escapes, and a person can read the scripts without them.
	readable := strings.NewReplacer("&#xA;", "\n", "&#x9;", "\t", "&#34;", `"`, "&#39;", "'")
	head, rest, _ := strings.Cut(readable.Replace(string(text)), "\n")
	return Unit{a.Label + Plist, head + "\n" + plistMark + rest}, nil
}

// plistMark marks a property list, as mark does other files.
const plistMark = "<!-- Made by nbs-worker export launchd; made again, it is replaced. -->\n"

// isNotXML reports whether XML has no form of a character.
func isNotXML(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
}

// Bootstrap returns the commands that load LaunchAgents now, and those that end and unload them.
func Bootstrap(uid int, paths []string) (load, unload string) {
	domain := fmt.Sprintf("gui/%d", uid)
	words := strings.Join(agent.Mapped(paths, human.ShellWord), " ")
	return "launchctl bootstrap " + domain + " " + words, "launchctl bootout " + domain + " " + words
}
