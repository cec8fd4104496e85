package agent

import (
	"slices"
	"strings"
)

// secretEnds are how the names of variables end whose values do not belong into a file
// that is kept. Such a variable reaches claude through the caller's environment.
var secretEnds = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "_PASS", "_PAT"}

func namesSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

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
		if namesSecret(name) {
			return nil, Errorf(BadInput, "--env %s: the record would keep a secret", Quote(name)).
				Hint("export %s before the call instead: the caller's environment reaches claude and is not kept", name)
		}
		env[name] = value
	}
	return env, checkEnv(env)
}
