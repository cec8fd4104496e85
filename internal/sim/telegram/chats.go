package telegram

import "strconv"

func (s *Server) getChat(p params) (any, *refusal) {
	c, refused := s.target(p)
	if refused != nil {
		return nil, refused
	}
	about := s.renderChat(c)
	about["accent_color_id"], about["max_reaction_count"] = 1, 11
	about["accepted_gift_types"] = map[string]any{"unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false, "premium_subscription": false}
	if c.kind != "private" {
		about["permissions"] = map[string]any{"can_send_messages": true}
	}
	return about, nil
}

func (s *Server) getChatMember(p params) (any, *refusal) {
	c, refused := s.target(p)
	if refused != nil {
		return nil, refused
	}
	user, err := strconv.ParseInt(p.get("user_id"), 10, 64)
	if err != nil {
		return nil, bad("invalid user_id specified")
	}
	status := c.members[user]
	switch {
	case user == botNumber:
		return s.membership(s.me(), c.bot), nil
	case c.kind == "private" && user == c.id:
		status = "member"
	case status == "":
		return nil, bad("PARTICIPANT_ID_INVALID")
	}
	return s.membership(s.person(user), status), nil
}
