package telegram

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
)

// Account asks Telegram about a bot while no bridge runs. It writes to no chat.
type Account struct{ client }

// NewAccount returns the account of a token. url is that of the Bot API; "": Telegram's own. Errors: BadInput.
func NewAccount(token Token, url string) (*Account, error) {
	client, err := newClient(token, url)
	return &Account{client}, err
}

// ParseToken reads a token that a person typed. Errors: BadInput.
func ParseToken(text string) (Token, error) {
	text = strings.TrimSpace(text)
	if !isToken(text) {
		return Token{}, fail.Errorf(fail.BadInput, "this is not a token: a token is a number, a colon and letters; copy it whole").Hint("@BotFather shows it: /mybots, API Token")
	}
	return Token{text}, nil
}

// Kept returns the content of the file that keeps the token.
func (t Token) Kept() []byte { return []byte(t.text + "\n") }

// ask calls a method once. Errors: Held (the token is not accepted), Conflict (another program gets the bot's messages),
// NotFound (Telegram does not know what was asked for), Failed.
func (a *Account) ask(ctx context.Context, method string, params map[string]any, result any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := a.call(ctx, method, params, result)
	switch code := refusedIn(err).Code; {
	case err == nil:
		return nil
	case isOfToken(err):
		return errToken()
	case code == http.StatusConflict:
		return fail.Errorf(fail.Conflict, "%s", a.token.hide(refusedIn(err).Description))
	case code == http.StatusBadRequest, code == http.StatusForbidden:
		return fail.Errorf(fail.NotFound, "%s", a.token.hide(refusedIn(err).Description))
	}
	return fail.Errorf(fail.Failed, "reach Telegram: %s", a.token.hide(err.Error()))
}

// Me is the bot.
type Me struct {
	ID          int64  `json:"id"`
	Name        string `json:"first_name"`
	Username    string `json:"username"`
	ReadsGroups bool   `json:"can_read_all_group_messages"` // privacy mode is off
}

// Me returns the bot. Errors: Held (the token is not accepted), Failed.
func (a *Account) Me(ctx context.Context) (me Me, err error) {
	err = a.ask(ctx, "getMe", map[string]any{}, &me)
	return me, err
}

// Webhook returns the address to which Telegram sends the bot's messages; "" if a bridge can ask for them.
func (a *Account) Webhook(ctx context.Context) (string, error) {
	var info struct {
		URL string `json:"url"`
	}
	err := a.ask(ctx, "getWebhookInfo", map[string]any{}, &info)
	return info.URL, err
}

// DeleteWebhook lets a bridge ask for the bot's messages. The messages that wait are kept.
func (a *Account) DeleteWebhook(ctx context.Context) error {
	return a.ask(ctx, "deleteWebhook", map[string]any{}, nil)
}

// ChatInfo is a chat as Telegram describes it.
type ChatInfo struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"` // private, group, supergroup, channel
	Title    string `json:"title"`
	Name     string `json:"first_name"`
	Username string `json:"username"`
	IsForum  bool   `json:"is_forum"`
}

// IsGroup reports whether several people are in the chat.
func (p ChatInfo) IsGroup() bool { return p.Type != "private" }

// String describes the chat in words.
func (p ChatInfo) String() string {
	switch {
	case !p.IsGroup():
		return fmt.Sprintf("%s, chat %d", p.Name, p.ID)
	case p.IsForum:
		return fmt.Sprintf("the group %s with topics, chat %d", p.Title, p.ID)
	}
	return fmt.Sprintf("the group %s, chat %d", p.Title, p.ID)
}

// Chat returns a chat. Errors: NotFound (the bot has no access to it), those of ask.
func (a *Account) Chat(ctx context.Context, chat int64) (p ChatInfo, err error) {
	err = a.ask(ctx, "getChat", map[string]any{"chat_id": chat}, &p)
	return p, err
}

// Standing returns what a user is in a chat: member, administrator, left, kicked and so on.
func (a *Account) Standing(ctx context.Context, chat, user int64) (string, error) {
	var member struct {
		Status string `json:"status"`
	}
	err := a.ask(ctx, "getChatMember", map[string]any{"chat_id": chat, "user_id": user}, &member)
	return member.Status, err
}

// Writer is a message to the bot, and who wrote it.
type Writer struct {
	Update int64    `json:"-"`
	Text   string   `json:"text"`
	Chat   ChatInfo `json:"chat"`
	User   Person   `json:"from"`

	AsGroup *titled `json:"sender_chat"`
}

// IsAnonymous reports whether the writer does not show who they are: the user is then one that many writers share.
func (w *Writer) IsAnonymous() bool { return w.AsGroup != nil }

// Person is a user of Telegram.
type Person struct {
	ID       int64  `json:"id"`
	Name     string `json:"first_name"`
	Username string `json:"username"`
}

// String describes the person in words.
func (p Person) String() string {
	if p.Username == "" {
		return fmt.Sprintf("%s (user %d)", p.Name, p.ID)
	}
	return fmt.Sprintf("%s (@%s, user %d)", p.Name, p.Username, p.ID)
}

// Listener hears who writes to a bot.
type Listener struct {
	account *Account
	next    int64   // the first update that was not heard yet
	kept    []int64 // updates that Telegram keeps for the bridge
	heard   []Writer
}

// Listen begins to hear who writes to the bot.
func (a *Account) Listen() *Listener { return &Listener{account: a} }

// Keep leaves a message with Telegram, for the bridge to answer. The other messages that were heard are dropped.
func (l *Listener) Keep(w Writer) { l.kept = append(l.kept, w.Update) }

// Next waits for the next message. Errors: the context's, Conflict (another program gets the messages), those of ask.
func (l *Listener) Next(ctx context.Context) (Writer, error) {
	for len(l.heard) == 0 {
		if err := l.poll(ctx); err != nil {
			return Writer{}, err
		}
	}
	w := l.heard[0]
	l.heard = l.heard[1:]
	return w, nil
}

func (l *Listener) poll(ctx context.Context) error {
	offset, wait := l.next, int((patience/2)/time.Second)
	if len(l.kept) > 0 { // Telegram gives these again at once
		offset, wait = l.kept[0], 0
	}
	var updates []struct {
		ID      int64   `json:"update_id"`
		Message *Writer `json:"message"`
	}
	params := map[string]any{"timeout": wait, "allowed_updates": []string{"message"}}
	if offset > 0 {
		params["offset"] = offset
	}
	if err := l.account.ask(ctx, "getUpdates", params, &updates); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	isNew := false
	for _, u := range updates {
		if u.ID < l.next || u.Message == nil {
			continue
		}
		isNew = true
		u.Message.Update = u.ID
		l.heard = append(l.heard, *u.Message)
	}
	for _, u := range updates {
		l.next = max(l.next, u.ID+1)
	}
	if !isNew && wait == 0 {
		return clock.Sleep(ctx, repoll)
	}
	return nil
}

// Close closes the connections.
func (a *Account) Close() { a.http.CloseIdleConnections() }
