package chat

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/telegram"
)

// Once a bot is set up, serve needs no flag: it answers the chat that was allowed, and says at its start what it serves.
func TestServeAloneServesTheBotThatWasSetUp(t *testing.T) {
	m := standIn(t)
	m.Chats()
	bot, err := telegram.Start(telegram.Options{})
	m.Must(err)
	m.Cleanup(func() { _ = bot.Close() })
	bot.Know(telegram.User{ID: chatNumber, FirstName: "Ann"})
	token := filepath.Join(m.World.RunDir, "token")
	m.Must(os.WriteFile(token, []byte(telegram.Token+"\n"), 0o600))
	m.NBS("serve", "setup", "telegram", "--telegram-url", bot.URL(), "--token-file", token, "--chat", strconv.Itoa(chatNumber))
	m.Must(os.Remove(token))
	p := &phone{team: m, bot: bot, server: m.Begin("serve")}
	p.Cleanup(func() {
		if p.server.ProcessState == nil {
			p.end(syscall.SIGINT)
		}
	})
	p.writes("Remember 42.", "OK...")
	well := m.NBS("serve", "check").Stdout
	for _, want := range []string{"Telegram accepts the token: @simulated_bot", "it has no webhook", "it reaches Ann, chat 123456789", "Claude trusts the folder", "nbs-worker serve runs"} {
		p.Check(strings.Contains(well, want), "check does not say %q:\n%s", want, well)
	}
	again := m.NBS("serve", "setup", "telegram").Stderr
	p.Check(strings.Contains(again, "takes what has changed at its next start"), "the setup does not say when serve takes it:\n%s", again)
	p.end(syscall.SIGINT)
	for _, want := range []string{"listens on ", ".sock\n", "telegram: this is @simulated_bot\n", "telegram: serves Ann, chat 123456789\n"} {
		p.Check(strings.Contains(p.server.Err.String(), want), "serve does not say %q:\n%s", want, p.server.Err.String())
	}
}
