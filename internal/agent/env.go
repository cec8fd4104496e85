package agent

import (
	"regexp"
	"strings"
)

// secretName matches variables whose values do not belong into a file that is
// kept. Such a variable reaches claude through the caller's environment.
var secretName = regexp.MustCompile(`(?i)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_PASS|_PAT)$`)

// ParseEnv reads assignments NAME=VALUE, the last of a name winning. A variable
// whose name says that it is a secret is refused: the record keeps what is given
// here. Errors: BadInput.
func ParseEnv(assignments []string) (map[string]string, error) {
	env := make(map[string]string, len(assignments))
	for _, assignment := range assignments {
		name, value, ok := strings.Cut(assignment, "=")
		if !ok {
			return nil, Errorf(BadInput, "--env %s is not NAME=VALUE", Quote(name))
		}
		if secretName.MatchString(name) {
			return nil, Errorf(BadInput, "--env %s: the record would keep a secret", Quote(name)).
				Hint("export %s before the call instead: the caller's environment reaches claude and is not kept", name)
		}
		env[name] = value
	}
	return env, checkEnv(env)
}
