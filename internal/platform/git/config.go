package git

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// Config is what git's configuration says about programs, by the names of its settings. A repository's own part may be the
// work of another: an agent can write it, and git would run the programs that it names.
type Config struct {
	user    map[string]string // set outside the repository
	foreign map[string]bool   // set in the repository
}

// programs matches the settings that have git run a program when it compares or reads files.
const programs = `^(core\.pager|pager\.diff|diff\.external|filter\..*\.(clean|smudge|process|required)|diff\..*\.(command|textconv))$`

// ReadConfig reads what the configuration says about programs. Errors: as of [Dir.Run].
func (d Dir) ReadConfig(ctx context.Context) (Config, error) {
	c := Config{user: map[string]string{}, foreign: map[string]bool{}}
	const noneIsSet = 1
	text, err := d.Run(ctx, "config", "--null", "--show-scope", "--get-regexp", programs)
	if Code(err) == noneIsSet {
		return c, nil
	}
	if err != nil {
		return Config{}, err
	}
	fields := strings.Split(text, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		name, value, _ := strings.Cut(fields[i+1], "\n")
		switch fields[i] {
		case "local", "worktree":
			c.foreign[name] = true
		default:
			c.user[name] = value
		}
	}
	return c, nil
}

// env returns variables by which git runs no program that only the repository names.
func (c Config) env() []string {
	names := slices.Sorted(maps.Keys(c.foreign))
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(names))}
	for i, name := range names {
		value, set := c.user[name]
		if !set && strings.HasSuffix(name, ".required") {
			value = "false"
		}
		env = append(env, "GIT_CONFIG_KEY_"+strconv.Itoa(i)+"="+name, "GIT_CONFIG_VALUE_"+strconv.Itoa(i)+"="+value)
	}
	return env
}

// Pager returns the command line of the user's own pager for differences.
func (c Config) Pager() string {
	ofDiff := c.user["pager.diff"]
	if slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "1", "0"}, strings.ToLower(ofDiff)) { // whether to page
		ofDiff = ""
	}
	return cmp.Or(os.Getenv("GIT_PAGER"), ofDiff, c.user["core.pager"], os.Getenv("PAGER"), "less")
}

// HasForeignDiff reports whether the repository itself names programs that show differences.
func (c Config) HasForeignDiff() bool {
	for name := range c.foreign {
		if strings.HasPrefix(name, "diff.") {
			return true
		}
	}
	return false
}

// Page runs git on the terminal of this process, through the user's pager, until the user leaves it. An interrupt is for the pager.
func (d Dir) Page(c Config, env []string, args ...string) error {
	cmd := exec.Command("git", slices.Concat(still, []string{"--paginate"}, args)...) //nolint:noctx // its user ends it
	d.in(cmd, slices.Concat(c.env(), env, []string{"GIT_PAGER=" + c.Pager()}))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil && Code(err) < 0 {
		return fmt.Errorf("run git: %w", err)
	}
	return nil // what git says of a failure is on the screen
}
