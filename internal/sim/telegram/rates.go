package telegram

import (
	"net/http"
	"strconv"
	"time"
)

// Limits of how fast a bot may write: one message a second to a chat in the long run, of which some may come at once,
// 20 a minute to a group, 30 a second in all.
const (
	burst    = 5
	inGroup  = 20
	together = 30
)

// LimitRates has the server hold the bot to the limits of the rate, or not, which is how it begins.
func (s *Server) LimitRates(limit bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.limited = limit
	s.sent = nil
}

// sent is a message that counts for the limits.
type sent struct {
	chat int64
	at   time.Time
}

// tooFast refuses a call that comes too soon after others; it counts those that do not. The lock is held.
func (s *Server) tooFast(m method, p params) *refusal {
	if !s.limited || m.kind != sends {
		return nil
	}
	chat, _ := strconv.ParseInt(p.get("chat_id"), 10, 64)
	now := s.now()
	wait := s.pause(chat, now)
	if wait > 0 {
		seconds := int((wait + time.Second - 1) / time.Second)
		r := &refusal{code: http.StatusTooManyRequests, why: "Too Many Requests: retry after " + strconv.Itoa(seconds), retryAfter: seconds}
		if now.Before(s.until[chat]) {
			s.WasHasty()
		}
		s.until[chat] = now.Add(wait)
		return r
	}
	s.sent = append(s.sent, sent{chat, now})
	return nil
}

// pause is how long the bot has to wait before its next message to a chat. The lock is held.
func (s *Server) pause(chat int64, now time.Time) time.Duration {
	var all, group, here []time.Time
	for _, m := range s.sent {
		switch age := now.Sub(m.at); {
		case age >= time.Minute:
		case m.chat == chat:
			group, here = append(group, m.at), append(here, m.at)
			fallthrough
		default:
			if age < time.Second {
				all = append(all, m.at)
			}
		}
	}
	wait := time.Duration(0)
	if len(all) >= together {
		wait = all[len(all)-together].Add(time.Second).Sub(now)
	}
	if chat < 0 && len(group) >= inGroup {
		wait = max(wait, group[len(group)-inGroup].Add(time.Minute).Sub(now))
	}
	debt, last := 0.0, now // messages that the chat has had beyond one a second
	for i, at := range here {
		if i > 0 {
			debt = max(0, debt-at.Sub(last).Seconds())
		}
		debt++
		last = at
	}
	if len(here) > 0 {
		debt = max(0, debt-now.Sub(last).Seconds())
	}
	if debt > burst-1 {
		wait = max(wait, time.Duration((debt-(burst-1))*float64(time.Second)))
	}
	return wait
}
