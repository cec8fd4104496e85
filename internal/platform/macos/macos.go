// Package macos asks the programs of macOS about services, logins and sleep.
//
// It was written by their manuals, and was not run on a Mac yet.
package macos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/human"
)

func says(ctx context.Context, program string, args ...string) (string, error) {
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).Output()
	return strings.TrimSpace(string(out)), err
}

// Release returns the number of macOS, such as 27; 0 if it is not known.
func Release(ctx context.Context) int {
	said, _ := says(ctx, "sw_vers", "-productVersion")
	major, _, _ := strings.Cut(said, ".")
	number, _ := strconv.Atoi(major)
	return number
}

// LoginAtScreen is the login in which programs can use the login keychain.
const LoginAtScreen = "Aqua"

// Login returns the kind of login in which this process runs: [LoginAtScreen], or Background over ssh.
func Login(ctx context.Context) (string, error) { return says(ctx, "launchctl", "managername") }

// Service is what launchd says of a LaunchAgent of the user.
type Service struct {
	Loaded bool
	PID    int // 0: it does not run
}

// ServiceOf asks launchd about a LaunchAgent of the user. Errors: launchd was not asked.
func ServiceOf(ctx context.Context, label string) (Service, error) {
	said, err := says(ctx, "launchctl", "print", fmt.Sprintf("gui/%d/%s", os.Getuid(), label))
	if _, refused := errors.AsType[*exec.ExitError](err); refused && ctx.Err() == nil {
		return Service{}, nil
	}
	if err != nil {
		return Service{}, err
	}
	service := Service{Loaded: true}
	for line := range strings.Lines(said) {
		if pid, is := strings.CutPrefix(strings.TrimSpace(line), "pid = "); is {
			service.PID, err = strconv.Atoi(pid)
			break // what follows describes other processes
		}
	}
	return service, err
}

// Power is when a Mac sleeps.
type Power struct {
	After    int    // minutes without input; 0: never
	AwakeBy  string // names of programs that keep it awake
	Disabled bool   // it never sleeps, not even with a closed lid
	Battery  bool   // it has one, and so a lid
}

// PowerOf asks when this Mac sleeps. Errors: it is not known.
func PowerOf(ctx context.Context) (Power, error) {
	said, err := says(ctx, "pmset", "-g")
	if err != nil {
		return Power{}, err
	}
	power, err := readPower(said)
	batteries, _ := says(ctx, "pmset", "-g", "batt")
	power.Battery = strings.Contains(batteries, "InternalBattery")
	return power, err
}

// readPower reads what pmset -g prints.
func readPower(said string) (power Power, err error) {
	err = errors.New("pmset -g printed no line for sleep")
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "SleepDisabled":
			power.Disabled = words[1] == "1"
		case "sleep":
			if power.After, err = strconv.Atoi(words[1]); err != nil {
				return Power{}, fmt.Errorf("pmset -g printed %s", human.Quote(strings.TrimSpace(line)))
			}
			_, by, _ := strings.Cut(line, "(sleep prevented by ")
			power.AwakeBy = strings.TrimSuffix(strings.TrimSpace(by), ")")
		}
	}
	return power, err
}
