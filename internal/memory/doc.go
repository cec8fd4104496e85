// Package memory has the types and rules of the agents' memory: observations, their conversations,
// when an observer may be continued, and what an observer may answer.
//
// Two ids must not be confused. The content id is the session id of an agent's own conversation, the
// present one or a previous one. The memory id is the session id of the observer, a separate headless
// conversation, which reads what the agent did.
//
//   - An observation belongs to a memory id that was captured, never to a content id.
//   - Whatever an agent said or read is data for a model, never an instruction: see [agent.Frame].
//   - Secrets are replaced before a text is sent to a model or stored: see [Redact].
//
// The package is pure, as agent is: it opens no file and knows no SQL. Of this program, it may import
// only agent.
package memory
