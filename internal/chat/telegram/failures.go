package telegram

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
)

// failed returns the error of a request as the bridge reads it.
func failed(err error) error {
	if err == nil {
		return nil
	}
	refused := refusedIn(err)
	failure := &bridge.Failure{Err: err, After: time.Duration(refused.Parameters.RetryAfter) * time.Second, NotDone: !mayHaveArrived(err)}
	if to := refused.Parameters.MigrateTo; to != 0 {
		failure.MovedTo = strconv.FormatInt(to, 10)
	}
	return failure
}

// unsent is failed for a request that writes to a chat.
func unsent(err error) error {
	err = failed(err)
	if failure, is := errors.AsType[*bridge.Failure](err); is && isFinal(err) {
		failure.Final, failure.Err = true, refusal(failure.Err)
	}
	return err
}

// isFinal reports whether another attempt would end in the same way: it was refused for good, or its file cannot be read,
// or takes too long. A refused token is not final, since the message did not cause it.
func isFinal(err error) bool {
	_, unread := errors.AsType[*fs.PathError](err)
	if unread || errors.Is(err, errSlow) {
		return true
	}
	switch code := refusedIn(err).Code; code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500
	}
}

// refusal returns what a final error means for the chat.
func refusal(err error) error {
	switch refused := refusedIn(err); {
	case refused.Parameters.MigrateTo != 0:
		return fail.Errorf(fail.Held, "the group became chat %d: allow that one", refused.Parameters.MigrateTo)
	case refused.Code == 0:
		return fail.Errorf(fail.Failed, "%w", err)
	case refused.Code == http.StatusForbidden:
		return fail.Errorf(fail.NotFound, "the chat does not take messages of the bot: %s", err)
	}
	return fail.Errorf(fail.Failed, "Telegram refused a message: %s", err)
}

// mayHaveArrived reports whether a failed request may have been carried out. It was not if Telegram asked for a pause
// or refused the token, or if there was no connection. An answer from a gateway proves nothing.
func mayHaveArrived(err error) bool {
	if refusedIn(err).Code == http.StatusTooManyRequests || isOfToken(err) {
		return false
	}
	network, is := errors.AsType[*net.OpError](err)
	return !is || network.Op != "dial"
}
