package memory

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Replaced stands where a secret stood.
const Replaced = "[secret]"

// secrets are the forms that give a secret away. A group is what is replaced, where there is one: what
// stands around it stays, so that the text still says of what it was the secret.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, form := range []string{
		`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`,
		`\bsk-ant-[A-Za-z0-9_-]{8,}`,                                // Anthropic
		`\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}`,                         // OpenAI and those that imitate it
		`\b(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{20,}`,              // GitHub
		`\bglpat-[A-Za-z0-9_-]{20,}`,                                // GitLab
		`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,                             // AWS
		`\bAIza[A-Za-z0-9_-]{35}`,                                   // Google
		`\bya29\.[A-Za-z0-9_-]{20,}`,                                // Google OAuth
		`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                          // Slack
		`\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}`,                // Stripe
		`\bnpm_[A-Za-z0-9]{36}`,                                     // npm
		`\bhf_[A-Za-z0-9]{30,}`,                                     // Hugging Face
		`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`,                         // Telegram
		`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, // JSON Web Token
		`(?i)\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+([^\s"']{6,})`,
		`(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})`,
		`\b[a-z][a-z0-9+.-]*://[^\s/:@"']*:([^\s/@"']+)@`, // the password in a URL
		`(?i)(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)["']?\s*[:=]\s*["']?([^\s"',;]{6,})`,
	} {
		all = append(all, regexp.MustCompile(form))
	}
	return all
})

// Redact replaces what looks like a secret: keys of known services, passwords in URLs, what is assigned to
// a name such as API_KEY. It finds forms, not meanings: a password in a sentence stays.
func Redact(text string) string {
	for _, form := range secrets() {
		text = replace(form, text)
	}
	return text
}

func replace(form *regexp.Regexp, text string) string {
	var b strings.Builder
	rest := 0
	for _, at := range form.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[len(at)-2], at[len(at)-1]
		b.WriteString(text[rest:from] + Replaced)
		rest = to
	}
	return b.String() + text[rest:]
}

// Redacted returns the observation with the secrets in its texts replaced.
func (o Observation) Redacted() Observation {
	o.Title, o.Narrative = Redact(o.Title), Redact(o.Narrative)
	for _, texts := range []*[]string{&o.Facts, &o.Files} {
		*texts = slices.Clone(*texts)
		for i, text := range *texts {
			(*texts)[i] = Redact(text)
		}
	}
	return o
}
