package claude

import (
	"slices"
	"strings"

	"nbs-worker/internal/agent"
)

// providerPrefixes begin the names of the variables that choose claude's server, account and connection.
var providerPrefixes = []string{
	"ANTHROPIC_", "CLAUDE_", "AWS_", "GOOGLE_", "GCLOUD_", "VERTEX_", "CLOUD_ML_", "BEDROCK_", "AZURE_",
}

// proxies are the names of the proxy variables, in either case.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"}

// providerNamesLimit is far above any real number; it bounds the size of a record.
const providerNamesLimit = 64

// ProviderNames returns the names of such variables in an environment, sorted. It leaves out those that the spec
// itself sets, or that never reach claude.
func ProviderNames(spec *agent.Spec, env []string) []string {
	var names []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		_, own := spec.Env[name]
		if value != "" && choosesProvider(name) && !own && agent.IsVariableName(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), providerNamesLimit)]
}

func choosesProvider(name string) bool {
	if isScrubbed(name) || name == ConfigDirVariable || name == "CLAUDE_CODE_NO_FLICKER" {
		return false
	}
	return slices.Contains(proxies, strings.ToUpper(name)) ||
		slices.ContainsFunc(providerPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Account returns a key that is the same for agents whose records choose the same account: the configuration, and the
// variables that name another account. It contains their values: it is only to be compared.
func Account(spec *agent.Spec) string {
	key := []string{spec.ConfigDir}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"} {
		key = append(key, spec.Env[name])
	}
	return strings.Join(key, "\x00")
}

// Forgetful returns the environment variable that keeps a claude in a terminal from writing a transcript, so that it
// could not be resumed. It returns "" if no such variable is set.
func Forgetful(variable func(name string) string) string {
	if isOn(variable("CLAUDE_CODE_FORCE_SESSION_PERSISTENCE")) {
		return ""
	}
	for _, name := range []string{"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SKIP_PROMPT_HISTORY"} {
		if isOn(variable(name)) {
			return name
		}
	}
	return ""
}

// isOn reads a switch as Claude does.
func isOn(value string) bool {
	return value != "" && value != "0" && !strings.EqualFold(value, "false") && !strings.EqualFold(value, "no") && !strings.EqualFold(value, "off")
}
