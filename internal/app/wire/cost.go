package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/costs"
)

// AgentBudget is what an agent may spend in a period.
type AgentBudget struct {
	Budget   agent.Budget `json:"budget"`    // in US dollars: 5.00/day
	SpentUSD float64      `json:"spent_usd"` // in the present period
	Ends     *time.Time   `json:"ends"`      // the end of the period
	Over     bool         `json:"over"`      // it is spent: the agent gets no message until the period ends
}

func newBudget(spending *agent.Spending) *AgentBudget {
	if spending == nil {
		return nil
	}
	return &AgentBudget{Budget: spending.Budget, SpentUSD: rounded(spending.USD), Ends: timeOf(spending.Ends), Over: spending.Over()}
}

// Costs is what a project has spent, as cost --json prints it.
type Costs struct {
	Since  *time.Time  `json:"since"`  // the time from which spent_usd counts
	Agents []AgentCost `json:"agents"` // dismissed ones too
	Chats  []ChatCost  `json:"chats"`

	SpentUSD float64 `json:"spent_usd"` // of all that is known
	EverUSD  float64 `json:"ever_usd"`
}

// AgentCost is what an agent has spent.
type AgentCost struct {
	Handle    agent.Handle `json:"handle"`
	Dismissed bool         `json:"dismissed"`
	SpentUSD  float64      `json:"spent_usd"`
	EverUSD   float64      `json:"ever_usd"`
	Last      *time.Time   `json:"last"`   // when it spent something last
	Budget    *AgentBudget `json:"budget"` // null: it has none
}

// ChatCost is what a keyed conversation has cost.
type ChatCost struct {
	Conversation string   `json:"conversation"`
	SpentUSD     *float64 `json:"spent_usd"` // null: unknown, since is more than two days ago
	EverUSD      float64  `json:"ever_usd"`
}

// NewAgentCost converts the ledger of an agent.
func NewAgentCost(l *costs.Kept, since time.Time, spending *agent.Spending) AgentCost {
	return AgentCost{
		Handle: l.Handle, Dismissed: l.Closed, SpentUSD: rounded(l.Since(since)), EverUSD: rounded(l.Since(time.Time{})), Last: timeOf(l.Last), Budget: newBudget(spending),
	}
}

// NewChatCost converts the cost of a chat; spent is nil if it is unknown.
func NewChatCost(key string, spent *float64, ever float64) ChatCost {
	return ChatCost{Conversation: key, SpentUSD: roundedCost(spent), EverUSD: rounded(ever)}
}

// Add adds the sums of all rows.
func (c *Costs) Add() {
	for i := range c.Agents {
		c.SpentUSD += c.Agents[i].SpentUSD
		c.EverUSD += c.Agents[i].EverUSD
	}
	for i := range c.Chats {
		if c.Chats[i].SpentUSD != nil {
			c.SpentUSD += *c.Chats[i].SpentUSD
		}
		c.EverUSD += c.Chats[i].EverUSD
	}
	c.SpentUSD, c.EverUSD = rounded(c.SpentUSD), rounded(c.EverUSD)
}
