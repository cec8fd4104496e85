// Package units is, on a simulated host, what systemd is to its user: systemctl --user, loginctl and busctl, as far as
// they are called for a team's units. A host boots "systemctl --user start default.target" where its user lingers.
//
// It reads units as systemd does, from ~/.config/systemd/user, and gives them a service's variables and not those of a
// login. It starts services and does not restart them.
package units

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// target is what starts at boot: an enabled unit is a link in its folder.
const target = "default.target"

// Names are the programs that Main is.
func Names() []string { return []string{"systemctl", "loginctl", "busctl"} }

// Main is one of the programs.
func Main(name string, args []string) int {
	var err error
	switch name {
	case "systemctl":
		err = systemctl(args)
	case "loginctl":
		err = loginctl(args)
	default:
		fmt.Println("b false") // KillUserProcesses
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// Lingering is the folder with a file for each user whose services run without a login. Each host has its own.
const Lingering = "/var/lib/systemd/linger"

// user is the only one of a host who logs in.
const user = "root"

// Lingers reports whether the user is in such a folder.
func Lingers(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, user))
	return err == nil
}

func loginctl(args []string) error {
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--no-ask-password" })
	switch {
	case len(args) > 0 && args[0] == "enable-linger":
		return os.WriteFile(filepath.Join(Lingering, user), nil, 0o600)
	case len(args) > 0 && args[0] == "disable-linger":
		return os.Remove(filepath.Join(Lingering, user))
	case len(args) > 0 && args[0] == "show-user":
		answer := "no"
		if Lingers(Lingering) {
			answer = "yes"
		}
		if !slices.Contains(args, "--value") {
			answer = "Linger=" + answer
		}
		fmt.Println(answer)
		return nil
	}
	return fmt.Errorf("not simulated: %q", args)
}

func systemctl(args []string) error {
	words := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if !slices.Contains(args, "--user") || len(words) == 0 {
		return fmt.Errorf("not simulated: %q", args)
	}
	verb, names := words[0], words[1:]
	switch {
	case verb == "daemon-reload":
		return nil
	case verb == "start" && slices.Equal(names, []string{target}):
		enabled, _ := filepath.Glob(filepath.Join(folder(), target+".wants", "*.service")) // the home has no pattern
		for i, path := range enabled {
			enabled[i] = filepath.Base(path)
		}
		return start(enabled)
	}
	var err error
	for _, name := range names {
		switch verb {
		case "enable":
			err = errors.Join(err, enable(name))
		case "disable":
			err = errors.Join(err, os.RemoveAll(wanted(name)))
		case "show":
			show(name)
		case "start":
		case "stop":
			stop(name)
		default:
			err = fmt.Errorf("not simulated: %q", args)
		}
	}
	if err == nil && (verb == "start" || verb == "enable" && slices.Contains(args, "--now")) {
		err = start(names)
	}
	if verb == "disable" && slices.Contains(args, "--now") {
		for _, name := range names {
			stop(name)
		}
	}
	return err
}

func folder() string { return filepath.Join(os.Getenv("HOME"), ".config", "systemd", "user") }

func wanted(name string) string { return filepath.Join(folder(), target+".wants", name) }

func enable(name string) error {
	path := filepath.Join(folder(), name)
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("unit file %s does not exist", name)
	}
	_ = os.Remove(wanted(name)) // it may be enabled
	return errors.Join(os.MkdirAll(filepath.Dir(wanted(name)), 0o700), os.Symlink(path, wanted(name)))
}

// show prints what "systemctl show" does of a unit's state.
func show(name string) {
	load, file, active := "not-found", "", "inactive"
	if _, err := os.Stat(filepath.Join(folder(), name)); err == nil {
		load, file = "loaded", "disabled"
	}
	if _, err := os.Lstat(wanted(name)); err == nil {
		file = "enabled"
	}
	if running(name) != 0 {
		active = "active"
	}
	fmt.Printf("LoadState=%s\nUnitFileState=%s\nActiveState=%s\n", load, file, active)
}

// running is the pid of a service; 0: it does not run.
func running(name string) int {
	text, err := os.ReadFile(pidFile(name))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || syscall.Kill(pid, 0) != nil {
		return 0
	}
	return pid
}

func pidFile(name string) string {
	return filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "simulated-units", name)
}

func stop(name string) {
	if pid := running(name); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}

// start starts units, and each after those that it names.
func start(names []string) error {
	var all []unit
	for _, name := range names {
		u, err := read(name)
		if err != nil {
			return err
		}
		all = append(all, u)
	}
	var err error
	for done := map[string]bool{}; len(done) < len(all); {
		for _, u := range all {
			early := slices.ContainsFunc(all, func(o unit) bool { return slices.Contains(u.after, o.name) && !done[o.name] })
			if done[u.name] || early {
				continue
			}
			done[u.name] = true
			err = errors.Join(err, u.run())
		}
	}
	return err
}

// run starts one service, and waits for it as systemd does for its type.
func (u unit) run() error {
	if u.unless != "" {
		if found, _ := filepath.Glob(u.unless); len(found) > 0 {
			return nil
		}
	}
	if running(u.name) != 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(pidFile(u.name)), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(pidFile(u.name)+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(u.command[0], u.command[1:]...)
	cmd.Env, cmd.Dir = u.env, os.Getenv("HOME")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", u.name, err)
	}
	if u.kind == "oneshot" || u.kind == "forking" {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %w", u.name, err)
		}
		return nil
	}
	return os.WriteFile(pidFile(u.name), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
}
