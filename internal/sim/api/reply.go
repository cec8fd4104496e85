package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
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
	if len(a.tools) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// contents are the answer's blocks. Tool calls are named after the message, so that their ids are deterministic too.
func (a answer) contents(msgID string) []object {
	if len(a.tools) == 0 {
		return []object{{"type": "text", "text": a.text}}
	}
	var blocks []object
	for i, c := range a.tools {
		id := "toolu_" + msgID
		if i > 0 {
			id += strconv.Itoa(i)
		}
		blocks = append(blocks, object{"type": "tool_use", "id": id, "name": c.name, "input": c.input})
	}
	return blocks
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
	m["content"] = a.contents(msgID)
	m["stop_reason"] = a.stopReason()
	m["usage"] = a.usageObject(a.output)
	return m
}

// stream writes the answer as server-sent events.
func stream(ctx context.Context, w http.ResponseWriter, model, msgID string, a answer) {
	events := begin(w, model, msgID, a)
	for i, block := range a.contents(msgID) {
		if i > 0 {
			events.open(i, block)
		}
		for j, d := range deltas(block) {
			if j > 0 && !pause(ctx, a.slow) {
				return
			}
			events.send("content_block_delta", object{"index": i, "delta": d})
		}
		events.send("content_block_stop", object{"index": i})
	}
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
	events.open(0, a.contents(msgID)[0])
	return events
}

// breakOff begins an answer and then fails, by an error event or by closing the connection.
func breakOff(w http.ResponseWriter, model, msgID string, a answer) {
	events := begin(w, model, msgID, a)
	events.send("content_block_delta", object{"index": 0, "delta": deltas(a.contents(msgID)[0])[0]})
	if a.drop {
		panic(http.ErrAbortHandler) // closes the connection
	}
	events.send("error", errorObject(a.status, a.complaint()))
}

// deltas are the parts in which a block arrives: words, or the whole input of a tool.
func deltas(block object) []object {
	if input, is := block["input"].(json.RawMessage); is {
		return []object{{"type": "input_json_delta", "partial_json": string(input)}}
	}
	var parts []object
	for _, word := range strings.SplitAfter(block["text"].(string), " ") {
		parts = append(parts, object{"type": "text_delta", "text": word})
	}
	return parts
}

type eventWriter struct{ w http.ResponseWriter }

// open announces a block, without its content.
func (e eventWriter) open(index int, block object) {
	announced := maps.Clone(block)
	if announced["type"] == "tool_use" {
		announced["input"] = object{}
	} else {
		announced["text"] = ""
	}
	e.send("content_block_start", object{"index": index, "content_block": announced})
}

func (e eventWriter) send(name string, data object) {
	data["type"] = name
	line, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("marshal %s: %v", name, err)) // maps of plain values: a defect of this package
	}
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, line)
	_ = http.NewResponseController(e.w).Flush() // the client may have gone away
}
