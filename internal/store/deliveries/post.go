package deliveries

import "time"

// Post is a message of a chat about the need of an agent. Its note is Waits until it is being sent, Begun as long as it
// may change, and then Over.
type Post struct {
	Handle  string    `json:"handle"`
	Request string    `json:"request,omitempty"` // its id; "": the need is no request
	Reason  string    `json:"reason,omitempty"`  // of a need that is no request
	Since   time.Time `json:"since,omitzero"`
	Title   string    `json:"title"`
	Body    string    `json:"body,omitempty"`
}

// OpenPosts returns the notes of the posts that may change. Errors: as of [Drawer.Open].
func (d *Drawer) OpenPosts() ([]Note, error) {
	return d.sorted(func(n Note) bool { return n.Post != nil && n.State != Over })
}

// PostOf returns the post that a message of a conversation's chat is. A group that became another chat keeps its
// conversation, and the other chat may count its messages from 1. there is false if no post is kept for it. Errors: as of
// [Drawer.Open].
func (d *Drawer) PostOf(key string, chat, message Number) (p Post, there bool, err error) {
	found, err := d.sorted(func(n Note) bool {
		return n.Post != nil && n.Key == key && n.GrowsIn == chat && n.Growing == message && message != ""
	})
	if len(found) == 0 {
		return Post{}, false, err
	}
	return *found[0].Post, true, nil
}
