package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

type object = map[string]any

func (a answer) usageObject(output int) object {
	return object{
		"input_tokens": a.input, "output_tokens": output,
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
		"service_tier": "standard",
	}
}

func (a answer) stopReason() string {
	if a.tool != "" {
		return "tool_use"
	}
	return "end_turn"
}

// content is the answer's one block; a tool call is named after the message, so that the id is deterministic too.
func (a answer) content(msgID string) object {
	if a.tool != "" {
		return object{"type": "tool_use", "id": "toolu_" + msgID, "name": a.tool, "input": a.toolInput}
	}
	return object{"type": "text", "text": a.text}
}

func envelope(model, msgID string) object {
	return object{
		"id": msgID, "type": "message", "role": "assistant", "model": model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
	}
}

// whole is the answer to a request that does not stream.
func whole(model, msgID string, a answer) object {
	m := envelope(model, msgID)
	m["content"] = []any{a.content(msgID)}
	m["stop_reason"] = a.stopReason()
	m["usage"] = a.usageObject(a.output)
	return m
}

// stream writes the answer as server-sent events.
func stream(ctx context.Context, w http.ResponseWriter, model, msgID string, a answer) {
	events := begin(w, model, msgID, a)
	for i, d := range a.deltas() {
		if i > 0 && !pause(ctx, a.slow) {
			return
		}
		events.send("content_block_delta", object{"index": 0, "delta": d})
	}
	events.send("content_block_stop", object{"index": 0})
	events.send("message_delta", object{
		"delta": object{"stop_reason": a.stopReason(), "stop_sequence": nil},
		"usage": a.usageObject(a.output),
	})
	events.send("message_stop", object{})
}

// begin writes what comes before the first part of an answer.
func begin(w http.ResponseWriter, model, msgID string, a answer) eventWriter {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Request-Id", "req_sim")
	w.WriteHeader(http.StatusOK)
	events := eventWriter{w}
	start := envelope(model, msgID)
	start["usage"] = a.usageObject(1)
	events.send("message_start", object{"message": start})
	events.send("content_block_start", object{"index": 0, "content_block": a.opening(msgID)})
	return events
}

// breakOff begins an answer and then fails, by an error event or by closing the connection.
func breakOff(w http.ResponseWriter, model, msgID string, a answer) {
	events := begin(w, model, msgID, a)
	events.send("content_block_delta", object{"index": 0, "delta": a.deltas()[0]})
	if a.drop {
		panic(http.ErrAbortHandler) // closes the connection
	}
	events.send("error", errorObject(a.status, a.complaint()))
}

// opening is the block as it is announced: without its content.
func (a answer) opening(msgID string) object {
	c := a.content(msgID)
	if a.tool != "" {
		c["input"] = object{}
	} else {
		c["text"] = ""
	}
	return c
}

// deltas are the parts in which the content arrives: words, or the whole input of a tool.
func (a answer) deltas() []object {
	if a.tool != "" {
		return []object{{"type": "input_json_delta", "partial_json": string(a.toolInput)}}
	}
	var parts []object
	for _, word := range strings.SplitAfter(a.text, " ") {
		parts = append(parts, object{"type": "text_delta", "text": word})
	}
	return parts
}

type eventWriter struct{ w http.ResponseWriter }

func (e eventWriter) send(name string, data object) {
	data["type"] = name
	line, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("marshal %s: %v", name, err)) // maps of plain values: a defect of this package
	}
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, line)
	_ = http.NewResponseController(e.w).Flush() // the client may have gone away
}
