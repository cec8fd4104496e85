package export

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"howett.net/plist"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// listed returns the LaunchAgents of a team as launchd reads them, in their order.
func listed(t *testing.T, of Team) (all []map[string]any) {
	t.Helper()
	units, err := of.Launchd()
	rig.Must(t, err)
	for _, unit := range units {
		keys := map[string]any{}
		format, err := plist.Unmarshal([]byte(unit.Text), &keys)
		rig.Check(t, err == nil && format == plist.XMLFormat && isOurs([]byte(unit.Text)), "%s: %v\n%s", unit.Name, err, unit.Text)
		rig.Equal(t, unit.Name, keys["Label"].(string)+".plist", "the name of the file")
		all = append(all, keys)
	}
	return all
}

func arguments(keys map[string]any) (words []string) {
	for _, word := range keys["ProgramArguments"].([]any) {
		words = append(words, word.(string))
	}
	return words
}

func TestLaunchAgents(t *testing.T) {
	t.Parallel()
	const hostile = odd + quotes + "<&]]>\n\té"
	project, home := "/srv/"+hostile, "/Users/"+hostile
	all := listed(t, Team{
		Program: home + "/nbs-worker", Tmux: home + "/tmux", Project: project, Socket: home + "/s", Pause: project + "/paused",
		Policy: home + "/policy", Logs: home + "/logs", Env: []string{"PATH=/bin:" + home, "HOME=" + home, "A=b=c"},
	})
	rig.Equal(t, len(all), 4, "services")
	for _, keys := range all {
		label := keys["Label"].(string)
		for key, want := range map[string]any{
			"LimitLoadToSessionType": "Aqua", "ProcessType": "Interactive", "RunAtLoad": true, "AbandonProcessGroup": true,
			"StandardOutPath": home + "/logs/" + label + ".log", "StandardErrorPath": home + "/logs/" + label + ".log",
			"EnvironmentVariables": map[string]any{"PATH": "/bin:" + home, "HOME": home, "A": "b=c", "LC_ALL": "en_US.UTF-8"},
		} {
			rig.Same(t, label+" has "+key, want, keys[key])
		}
		_, masked := keys["Umask"] // agents would inherit it
		rig.Check(t, !masked && !strings.ContainsAny(label, " /<&"), "%v", keys)
	}
	rig.Same(t, "what is kept", []any{true, nil, map[string]any{"SuccessfulExit": false}, map[string]any{"SuccessfulExit": false}},
		[]any{all[0]["KeepAlive"], all[1]["KeepAlive"], all[2]["KeepAlive"], all[3]["KeepAlive"]})
	worker := []string{home + "/nbs-worker", "--root", project, "--tmux-socket", home + "/s"}
	tmux := []string{home + "/tmux", "-S", home + "/s"}
	rig.Same(t, "the server", append([]string{all[0]["Label"].(string)}, tmux...), arguments(all[0])[3:])
	for i, want := range [][]string{
		append(append(append([]string{project + "/paused"}, tmux...), worker...), "recover", "--all"),
		append(append(append([]string{""}, tmux...), worker...), "watch", "--policy", home+"/policy"),
		append(append([]string{}, worker...), "serve"),
	} {
		rig.Same(t, "the words", want, arguments(all[i+1])[4:])
	}
	for _, word := range []string{"a\x01b", "a\x1bb", "a\xffb", "a\ufffeb"} {
		_, err := Team{Program: "/nbs-worker", Tmux: "/tmux", Project: "/srv/" + word}.Launchd()
		rig.Equal(t, fail.KindOf(err), fail.BadInput, "a folder %q", word)
		_, err = Team{Program: "/nbs-worker", Tmux: "/tmux", Project: "/srv", Env: []string{"X=" + word}}.Launchd()
		rig.Equal(t, fail.KindOf(err), fail.BadInput, "a variable %q", word)
	}
}

// started runs what launchd would run, and returns what it printed.
func started(t *testing.T, home string, keys map[string]any) string {
	t.Helper()
	words := arguments(keys)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	rig.Check(t, err == nil, "%v: %s", err, out)
	return string(out)
}

// The services start in any order: the agents are brought back in the server that launchd keeps, with the user's keys.
func TestLaunchAgentsShareTheServer(t *testing.T) {
	t.Parallel()
	rig.Needs(t, "tmux")
	home := rig.ShortDir(t)
	odd := filepath.Join(home, odd)
	rig.Must(t, os.MkdirAll(filepath.Join(home, ".config/nbs-worker"), 0o700))
	rig.Must(t, os.Mkdir(odd, 0o700))
	rig.Must(t, os.WriteFile(filepath.Join(home, ".config/nbs-worker/environment"), []byte("# none\nA B=1\n=x\nno\nKEY=a b$(false)"), 0o600))
	program, socket := filepath.Join(odd, "nbs-worker"), filepath.Join(home, "s")
	rig.WriteProgram(t, program, "#!/bin/sh\nprintf '%s\\n' \"$KEY\" \"$@\"\ntmux -S "+socket+" display-message -p -F '#{pid}'\n")
	of := Team{Program: program, Tmux: "/usr/bin/tmux", Project: odd, Socket: socket, Pause: filepath.Join(odd, "paused"), Logs: filepath.Join(home, "logs")}
	all := listed(t, of)

	recovery := make(chan string, 1)
	go func() { recovery <- started(t, home, all[1]) }() // before the server
	words := arguments(all[0])
	server := exec.CommandContext(t.Context(), words[0], words[1:]...)
	server.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	rig.Must(t, server.Start())
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	said := strings.Split(strings.TrimSpace(<-recovery), "\n")
	rig.Same(t, "what recovery got", []string{"a b$(false)", "--root", odd, "--tmux-socket", socket, "recover", "--all"}, said[:len(said)-1])
	client := exec.CommandContext(t.Context(), "tmux", "-S", socket, "display-message", "-p", "-F", "#{pid}")
	pid, err := client.Output()
	rig.Check(t, err == nil && strings.TrimSpace(string(pid)) == said[len(said)-1], "the server is %s: %v, recovery saw %q", pid, err, said)
	rig.Equal(t, started(t, home, all[0]), "", "what a second start of the server printed")
	rig.Check(t, strings.Contains(started(t, home, all[3]), "\nserve\n"), "serve")

	rig.Must(t, os.WriteFile(of.Pause, nil, 0o600))
	rig.Equal(t, started(t, home, all[1]), "", "what recovery printed during a pause")
	rig.Check(t, strings.Contains(started(t, home, all[2]), "\nwatch\n"), "watch")
}

func TestLaunchAgentsAreReplacedAndTheirLogsArePrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	of := Team{Program: "/nbs-worker", Tmux: "/tmux", Project: "/srv/team", Logs: filepath.Join(dir, "state/logs")}
	units, err := of.Launchd()
	rig.Must(t, err)
	for range 2 {
		paths, err := Write(filepath.Join(dir, "agents"), units)
		rig.Check(t, err == nil && len(paths) == 4, "%v, %v", paths, err)
		rig.Must(t, of.MakeLogs())
	}
	rig.MustBePrivate(t, filepath.Join(dir, "state"), 4)
	theirs := filepath.Join(dir, "agents", units[1].Name)
	rig.Must(t, os.WriteFile(theirs, []byte("<?xml version=\"1.0\"?>\n<!-- theirs -->\n<plist/>\n"), 0o600))
	_, err = Write(filepath.Join(dir, "agents"), units)
	rig.Equal(t, fail.KindOf(err), fail.Conflict, "kind")
	load, unload := Bootstrap(501, []string{"/Users/o b/x.plist", "/y.plist"})
	rig.Equal(t, load+"\n"+unload, "launchctl bootstrap gui/501 '/Users/o b/x.plist' '/y.plist'\nlaunchctl bootout gui/501 '/Users/o b/x.plist' '/y.plist'", "the commands")
}

// What another start would not mend is not started again: launchd does that only for what fails. The log says why.
func TestLaunchAgentsThatWouldFailAgainStayDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "nbs-worker")
	rig.WriteProgram(t, program, "#!/bin/sh\nexit $CODE\n")
	all := listed(t, Team{Program: program, Tmux: "/bin/true", Project: dir, Socket: dir + "/s", Logs: dir})
	for _, keys := range all[2:] {
		label, words := keys["Label"].(string), arguments(keys)
		for code, want := range map[int]int{0: 0, 1: 1, 2: 0, 3: 3, 4: 0, 5: 0, 6: 0, 8: 0, 46: 46, 130: 0} {
			cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
			cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", fmt.Sprintf("CODE=%d", code)}
			out, _ := cmd.CombinedOutput() // the code tells
			rig.Equal(t, cmd.ProcessState.ExitCode(), want, "the code of %s when its program ends with %d", label, code)
			said := ""
			if code != want && code != 130 {
				said = fmt.Sprintf("%s has ended with exit code %d, and is not started again before you have mended that and typed: launchctl kickstart gui/%d/%[1]s\n", label, code, os.Getuid())
			}
			rig.Equal(t, string(out), said, "what is in the log after %d", code)
		}
	}
	for code, want := range map[string]string{"0": "exit status 0", "3": "exit status 3", "6": "exit status 0"} {
		rig.WriteProgram(t, program, "#!/bin/sh\ntrap 'echo asked; exit "+code+"' TERM\necho runs\nwhile :; do sleep 0.05; done\n")
		words := arguments(all[3])
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin"}
		out, err := cmd.StdoutPipe()
		rig.Must(t, err)
		rig.Must(t, cmd.Start())
		said := bufio.NewReader(out)
		line, err := said.ReadString('\n')
		rig.Check(t, err == nil && line == "runs\n", "%q, %v", line, err)
		rig.Must(t, cmd.Process.Signal(syscall.SIGTERM)) // to the script alone, as launchd does
		line, err = said.ReadString('\n')
		rig.Check(t, err == nil && line == "asked\n", "the program gets no signal: %q, %v", line, err)
		_, err = io.Copy(io.Discard, said)
		rig.Must(t, err)
		_ = cmd.Wait() // the state tells
		rig.Equal(t, cmd.ProcessState.String(), want, "how it ends when its program ends with %s", code)
	}
}
