package cli

const budgetsTopic = `A budget is how much an agent may spend in an hour, a day or a week, in US dollars:

  nbs-worker spawn alice --budget 5.00/day
  nbs-worker set alice budget=5.00/day
  nbs-worker set alice budget=off

In team.yaml it is budget: 5.00/day. Periods are those of your clock; a week begins on
Monday. What the agent has spent is what nbs-worker cost prints.

A budget ends no turn. The turn that spends it goes on to its end, so an agent may spend more
than its budget. Then the agent is held: send refuses, with code 8, and messages of send
--queue wait. They are typed when the next period begins, or when you change
the budget. What you type in the agent's terminal, compact and Claude's own commands are not
held. An agent cannot change a budget.

A held agent needs you, with the reason short: list, next, dash, status-line, watch and serve
tell it. session shows the budget, and the journal has over-budget, once in a period.

A budget is no barrier for an agent that means harm: its shell may write to the ledgers in
.nbs/costs, and may run other programs that cost money. A budget counts what its own Claude
shows, with its subagents, and not the agents that it spawns.`
