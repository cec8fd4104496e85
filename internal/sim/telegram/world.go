package telegram

import (
	"fmt"
	"time"
)

// User is a person in the simulated Telegram. Someone who is not known to it is named User.
type User struct {
	ID        int64  `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name,omitempty"`
	Username  string `json:"username,omitempty"` // without @
}

// chat is a private chat, a group, or a supergroup, which may be a forum.
type chat struct {
	id      int64
	kind    string // private, group, supergroup
	title   string
	forum   bool
	topics  map[int]*topic   // of a forum, by message_thread_id
	members map[int64]string // status of each
	moved   int64            // the supergroup that a group has become
	bot     string           // the bot's status: member, administrator, kicked, left
}

type topic struct {
	name   string
	closed bool
	gone   bool
}

// general is the number of a forum's first topic. Its messages have no message_thread_id.
const general = 1

// Know gives a user a name. Later messages have it.
func (s *Server) Know(u User) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.users[u.ID] = u
}

// Group makes a basic group with the bot in it. Its number is negative.
func (s *Server) Group(id int64, title string) {
	s.found(&chat{id: id, kind: "group", title: title})
}

// Supergroup makes a supergroup with the bot in it. Its number begins with -100.
func (s *Server) Supergroup(id int64, title string) {
	s.found(&chat{id: id, kind: "supergroup", title: title})
}

// Forum makes a supergroup with topics, with the bot in it.
func (s *Server) Forum(id int64, title string) {
	s.found(&chat{id: id, kind: "supergroup", title: title, forum: true})
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.keep(Message{Chat: id, service: map[string]any{"supergroup_chat_created": true}}) // so that no topic is the first message
}

func (s *Server) found(c *chat) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.add(c)
}

func (s *Server) add(c *chat) *chat {
	c.topics, c.members, c.bot = map[int]*topic{}, map[int64]string{}, "member"
	s.chats[c.id] = c
	return c
}

// chat returns a chat. A user who is not known has a chat with the bot; a group must have been made. The lock is held.
func (s *Server) chat(id int64) *chat {
	c := s.chats[id]
	if c == nil && id > 0 {
		c = s.add(&chat{id: id, kind: "private"})
	}
	return c
}

// Topic has a user of a forum open a topic, and returns its message_thread_id.
func (s *Server) Topic(forum, by int64, name string) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.service(Message{Chat: forum, From: by, Topic: opened}, map[string]any{"forum_topic_created": map[string]any{"name": name, "icon_color": 7322096}})
	s.chat(forum).topics[m.Number] = &topic{name: name}
	return m.Number
}

// opened is the topic of the message that opens one: its own number.
const opened = -1

// CloseTopic closes a topic, or opens it again.
func (s *Server) CloseTopic(forum, by int64, number int, closed bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.chat(forum).topics[number].closed = closed
	what := "forum_topic_closed"
	if !closed {
		what = "forum_topic_reopened"
	}
	s.service(Message{Chat: forum, From: by, Topic: number}, map[string]any{what: map[string]any{}})
}

// DeleteTopic deletes a topic. Telegram does not tell the bot.
func (s *Server) DeleteTopic(forum int64, number int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.chat(forum).topics[number].gone = true
}

// Service has a service message appear in a chat: fields is what is in it, such as new_chat_title.
func (s *Server) Service(chat, by int64, fields map[string]any, with ...With) Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := Message{Chat: chat, From: by}
	for _, change := range with {
		change(&m)
	}
	return s.service(m, fields)
}

// service keeps a service message, and makes an update of it. The lock is held.
func (s *Server) service(m Message, fields map[string]any) Message {
	m.service = fields
	m = s.keep(m)
	s.queue("message", s.render(m))
	return m
}

// Join has a user join a group.
func (s *Server) Join(group, user int64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.chat(group).members[user] = "member"
	s.service(Message{Chat: group, From: user}, map[string]any{"new_chat_members": []any{s.person(user)}, "new_chat_member": s.person(user)})
}

// Pin has a user pin a message of a chat.
func (s *Server) Pin(chat, by int64, number int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if m := s.find(chat, number); m != nil {
		s.service(Message{Chat: chat, From: by, Topic: m.Topic}, map[string]any{"pinned_message": s.render(*m)})
	}
}

// AddBot has a user put the bot into a group with a status: member or administrator. RemoveBot throws it out.
func (s *Server) AddBot(group, by int64, status string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.setBot(s.chat(group), by, status)
	s.service(Message{Chat: group, From: by}, map[string]any{"new_chat_members": []any{s.me()}, "new_chat_member": s.me()})
}

// RemoveBot has a user throw the bot out of a group.
func (s *Server) RemoveBot(group, by int64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.setBot(s.chat(group), by, "kicked")
}

// setBot changes the bot's status in a chat, and makes an update of it. The lock is held.
func (s *Server) setBot(c *chat, by int64, status string) {
	old := c.bot
	c.bot = status
	s.queue("my_chat_member", map[string]any{
		"chat": s.renderChat(c), "from": s.person(by), "date": time.Now().Unix(),
		"old_chat_member": s.membership(s.me(), old), "new_chat_member": s.membership(s.me(), status),
	})
}

func (s *Server) membership(user map[string]any, status string) map[string]any {
	m := map[string]any{"user": user, "status": status}
	if status == "kicked" {
		m["until_date"] = 0
	}
	return m
}

// Upgrade turns a group into a supergroup, and returns its number: the old chat takes no more messages.
func (s *Server) Upgrade(group, by int64) (supergroup int64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	old := s.chat(group)
	supergroup = -1000000000000 - max(group, -group)
	s.service(Message{Chat: group, From: by}, map[string]any{"migrate_to_chat_id": supergroup})
	old.moved = supergroup
	s.add(&chat{id: supergroup, kind: "supergroup", title: old.title}).members = old.members
	s.service(Message{Chat: supergroup, From: by}, map[string]any{"migrate_from_chat_id": group})
	return supergroup
}

// MakeForum gives a supergroup topics.
func (s *Server) MakeForum(supergroup int64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.chat(supergroup).forum = true
}

// person is a user as the bot sees them. The lock is held.
func (s *Server) person(id int64) map[string]any {
	if id == botNumber {
		return s.me()
	}
	u, known := s.users[id]
	if !known {
		u.FirstName = "User"
	}
	person := map[string]any{"id": id, "is_bot": false, "first_name": u.FirstName, "language_code": "en"}
	if u.LastName != "" {
		person["last_name"] = u.LastName
	}
	if u.Username != "" {
		person["username"] = u.Username
	}
	return person
}

func (s *Server) renderChat(c *chat) map[string]any {
	about := map[string]any{"id": c.id, "type": c.kind}
	if c.kind != "private" {
		title := c.title
		if title == "" {
			title = fmt.Sprintf("Group %d", c.id)
		}
		about["title"] = title
		if c.forum {
			about["is_forum"] = true
		}
		return about
	}
	for _, name := range []string{"first_name", "last_name", "username"} {
		if value, is := s.person(c.id)[name]; is {
			about[name] = value
		}
	}
	return about
}
