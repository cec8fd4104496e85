package agent

import (
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// secretEnds are endings of variable names whose values must not be kept in a file. Such a variable reaches claude
// through the caller's environment.
var secretEnds = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "_PASS", "_PAT"}

// NamesSecret reports whether a variable has the name of a secret.
func NamesSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// ParseEnv parses NAME=VALUE assignments; the last assignment of a name wins. It refuses a variable with the name of
// a secret, because the record keeps these values. Errors: BadInput.
func ParseEnv(assignments []string) (map[string]string, error) {
	env := make(map[string]string, len(assignments))
	for _, assignment := range assignments {
		name, value, ok := strings.Cut(assignment, "=")
		if !ok {
			return nil, fail.Errorf(fail.BadInput, "--env %s is not NAME=VALUE", human.Quote(name))
		}
		if NamesSecret(name) {
			return nil, fail.Errorf(fail.BadInput, "--env %s: the record would keep a secret", human.Quote(name)).
				Hint("export %s in your shell instead: claude gets it from there, and the record does not keep it", name)
		}
		env[name] = value
	}
	return env, checkEnv(env)
}
