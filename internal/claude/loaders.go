package claude

import (
	"path"
	"strings"
)

// loaders are variables that make programs run code, or read files as code, without a sign in the record: variables
// of the dynamic loader, of interpreters, of shells, of git and similar programs, and of Claude Code. A '*' stands
// for any letters. Variables that name a program for a person's own use, such as PAGER and EDITOR, are not among
// them. Nor are those that decide which server claude talks to, such as ANTHROPIC_BASE_URL and the proxies: those are
// shown.
var loaders = []struct {
	why   string
	names []string
}{
	{"it makes programs load code", []string{
		"LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", "NLSPATH", "GLIBC_TUNABLES", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES",
	}},
	{"it makes an interpreter load code", []string{
		"BUN_*", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NODE_CHANNEL_FD", "NPM_CONFIG_*",
		"PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS", "PYTHONPLATLIBDIR",
		"PERL5LIB", "PERLLIB", "PERL5OPT", "PERL5DB", "RUBYOPT", "RUBYLIB", "RUBYSHELL", "GEM_HOME", "GEM_PATH", "BUNDLE_GEMFILE",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC", "PHP_INI_SCAN_DIR",
		"R_PROFILE*", "R_ENVIRON*", "GOFLAGS", "GOENV", "RUSTC*", "CARGO_BUILD_RUSTC*", "CARGO_HOME",
	}},
	{"it makes shells run code", []string{
		"PATH", "SHELL", "ENV", "BASH_ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "ZDOTDIR",
	}},
	{"it makes tools run other programs", []string{
		"GIT_SSH*", "GIT_EXTERNAL_DIFF", "GIT_CONFIG*", "GIT_EXEC_PATH", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR", "GIT_DIR", "GIT_COMMON_DIR",
		"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "SSH_ASKPASS*", "SUDO_ASKPASS", "LESSOPEN", "LESSCLOSE", "BROWSER", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES",
	}},
	{"it decides where programs find their settings", []string{
		"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMUX", "TMUX_PANE", "TMUX_TMPDIR",
		"ANTHROPIC_CONFIG_DIR", "CLAUDE_SECURESTORAGE_CONFIG_DIR",
	}},
	{"it decides what claude asks a person, or what runs its tools", []string{
		"IS_SANDBOX", "CLAUDE_*SANDBOX*", "CLAUDE_*TRUST*", "CLAUDE_*SHELL*", "CLAUDE_*BASH_PATH*", "CLAUDE_*PLUGIN*", "CLAUDE_*MANAGED*", "CLAUDE_*SETTINGS*",
		"CLAUDE_*HELPER*", "CLAUDE_*COMMAND*", "CLAUDE_*POLICY*", "CLAUDE_*MCP*", "CLAUDE_*HOST*", "CLAUDE_*REMOTE*", "CLAUDE_CODE_SUPERVISED",
		"CLAUDE_CODE_RESTRICTED", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_DEBUG_LOGS_DIR", "CLAUDE_PTY_*", "CLAUDE_BG_*", "CLAUDE_BRIDGE_*",
	}},
}

// whyLoader returns why a variable is a loader, or "" if it is not one. It ignores case, because some programs read
// their variables in either.
func whyLoader(name string) string {
	upper := strings.ToUpper(name)
	for _, kind := range loaders {
		for _, loader := range kind.names {
			if is, _ := path.Match(loader, upper); is { // the patterns are well formed
				return kind.why
			}
		}
	}
	return ""
}
