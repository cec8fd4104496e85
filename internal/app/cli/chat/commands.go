// Package chat has the commands for headless conversations, schedules and chats.
package chat

import "nbs-worker/internal/app/cli/ui"

// Commands are the commands for conversations.
var Commands = []ui.Command{
	{Name: "ask", Make: newAskCmd},
	{Name: "conversation", Make: newConversationCmd},
	{Name: "serve", Make: newServeCmd},
	{Name: "tell", Make: newTellCmd},
	{Name: "schedule", Make: newScheduleCmd},
}
