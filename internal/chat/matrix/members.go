package matrix

import "slices"

// A room may become a group, or private, within one sync. What counts for a message is who was in the room when it was
// written. So the members are followed event by event.

// enter sets whether a user is in a room, or invited.
func enter(members map[string]string, user string, is *content) {
	if is.Membership == "join" || is.Membership == "invite" {
		members[user] = is.DisplayName
	} else {
		delete(members, user)
	}
}

// goOn takes up an event.
func goOn(members map[string]string, e *event) {
	if e.Type == typeMember && e.Key != nil {
		enter(members, *e.Key, &e.Content)
	}
}

// goBack undoes events, the last one first. A user counts as a member where the homeserver leaves out what they were before:
// a room is then a group rather than a private chat.
func goBack(members map[string]string, events []event) {
	for _, e := range slices.Backward(events) {
		if e.Type != typeMember || e.Key == nil {
			continue
		}
		before := e.Unsigned.Before
		if before.Membership == "" && e.Unsigned.InPlace != "" {
			before.Membership = "join"
		}
		enter(members, *e.Key, &before)
	}
}

// owner returns the user who is alone with the bot; "" if that is not so.
func (s *System) owner(members map[string]string) (user string) {
	if _, is := members[s.me]; !is || len(members) != 2 {
		return ""
	}
	for member := range members {
		if member != s.me {
			user = member
		}
	}
	return user
}
