package memory

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Replaced replaces a secret.
const Replaced = "[secret]"

// form is a pattern that recognizes a secret.
type form struct {
	pattern *regexp.Regexp // its group is replaced: the text around it still says what the secret was for
	holds   []string       // each text that it matches contains one of these, in lower case
}

// wordBegins is \b, or an escape of JSON, since the input of tools is JSON: its line breaks end with a letter, \n.
const wordBegins = `(?:\b|\\[bfnrt])`

// secrets are the forms. On a text of a megabyte each pattern takes some ten milliseconds, so most are ruled out
// first, by a substring that a match must contain.
var secrets = sync.OnceValue(func() []form {
	var all []form
	for _, f := range []struct{ pattern, holds string }{
		{`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)`, "-----begin"},
		{`\bsk-ant-[A-Za-z0-9_-]{8,}`, "sk-ant-"},                                                // Anthropic
		{`\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}`, "sk-"},                                             // OpenAI and those that imitate it
		{`\b(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{20,}`, "gho_ ghp_ ghs_ ghu_ ghr_ github_pat_"}, // GitHub
		{`\bglpat-[A-Za-z0-9_-]{20,}`, "glpat-"},                                                 // GitLab
		{`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, "akia asia"},                                           // AWS
		{`\bAIza[A-Za-z0-9_-]{35}`, "aiza"},                                                      // Google
		{`\bya29\.[A-Za-z0-9_-]{20,}`, "ya29."},                                                  // Google OAuth
		{`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, "xox"},                                              // Slack
		{`\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}`, "k_live_ k_test_"},                        // Stripe
		{`\bnpm_[A-Za-z0-9]{36}`, "npm_"},                                                        // npm
		{`\bhf_[A-Za-z0-9]{30,}`, "hf_"},                                                         // Hugging Face
		{`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`, ":aa"},                                             // Telegram
		{`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, "eyj"},                     // JSON Web Token
		{`\b(?i)authorization\\*["']?\s*[:=]\s*\\*["']?(?:bearer|basic|token)\s+([^\s"']{6,})`, "authorization"},
		{`\b(?i)bearer\s+([A-Za-z0-9._~+/=-]{16,})`, "bearer"},
		{`\b[a-z][a-z0-9+.-]*://[^\s/:@"']*:([^\s/@"']+)@`, "://"}, // the password in a URL
		{
			`(?i)(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|[_-]pass|[_-]pwd)\\*["']?\s*[:=]\s*\\*["']?([^\s"',;]{6,})`,
			"passw passphrase secret token api access private credential pass pwd",
		},
	} {
		if rest, is := strings.CutPrefix(f.pattern, `\b`); is {
			if regexp.MustCompile(rest).NumSubexp() == 0 {
				rest = "(" + rest + ")"
			}
			f.pattern = wordBegins + rest
		}
		all = append(all, form{regexp.MustCompile(f.pattern), strings.Fields(f.holds)})
	}
	return all
})

// Redact replaces what looks like a secret: keys of known services, passwords in URLs, values assigned to a name such
// as API_KEY. It finds forms, not meanings: a password in a sentence stays.
func Redact(text string) string {
	lower := strings.ToLower(text)
	for _, f := range secrets() {
		if slices.ContainsFunc(f.holds, func(word string) bool { return strings.Contains(lower, word) }) {
			text = replace(f.pattern, text)
		}
	}
	return text
}

func replace(pattern *regexp.Regexp, text string) string {
	var b strings.Builder
	rest := 0
	for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[len(at)-2], at[len(at)-1]
		b.WriteString(text[rest:from] + Replaced)
		rest = to
	}
	return b.String() + text[rest:]
}

// Redacted returns the observation with the secrets in its texts replaced. It cuts a text that becomes too long, so
// that a valid observation stays valid.
func (o Observation) Redacted() Observation {
	o.Title, o.Narrative = redactedTo(TitleLimit, o.Title), redactedTo(NarrativeLimit, o.Narrative)
	for _, texts := range []*[]string{&o.Facts, &o.Files} {
		*texts = slices.Clone(*texts)
		for i, text := range *texts {
			(*texts)[i] = redactedTo(FactLimit, text)
		}
	}
	return o
}

func redactedTo(limit int, text string) string {
	text = Redact(text)
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}
