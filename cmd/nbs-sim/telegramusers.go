package main

import (
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"nbs-worker/internal/sim/telegram"
)

func runTelegramEdit(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram edit", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	var m telegram.Message
	flags.Int64Var(&m.Chat, "chat", 1, "number of the chat")
	flags.IntVar(&m.Number, "message", 0, "number of the message")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	m.Text = strings.Join(flags.Args(), " ")
	if err := control(*base, "edit", m, nil); err != nil {
		return failed(err)
	}
	return 0
}

func runTelegramPress(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram press", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	chat := flags.Int64("chat", 1, "number of the chat")
	from := flags.Int64("from", 0, "number of the user; the chat's when it is private")
	message := flags.Int("message", 0, "number of the message")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *from == 0 {
		from = chat
	}
	var pressed struct {
		Query string `json:"query"`
	}
	asked := map[string]any{"chat": *chat, "from": *from, "number": *message, "data": strings.Join(flags.Args(), " ")}
	if err := control(*base, "press", asked, &pressed); err != nil {
		return failed(err)
	}
	if pressed.Query == "" {
		return failed(fmt.Errorf("message %d has no such button", *message))
	}
	return 0
}

func runTelegramUser(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram user", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	id := flags.Int64("id", 1, "number of the user")
	username := flags.String("username", "", "without @")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := control(*base, "user", telegram.User{ID: *id, FirstName: strings.Join(flags.Args(), " "), Username: *username}, nil); err != nil {
		return failed(err)
	}
	return 0
}

func runTelegramGroup(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram group", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	id := flags.Int64("id", -1001, "number of the group")
	kind := flags.String("kind", "supergroup", "group, supergroup or forum")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := control(*base, "group", map[string]any{"id": *id, "kind": *kind, "title": strings.Join(flags.Args(), " ")}, nil); err != nil {
		return failed(err)
	}
	return 0
}

func runTelegramTopic(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram topic", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	chat := flags.Int64("chat", -1001, "number of the forum")
	from := flags.Int64("from", 1, "number of the user")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	var made struct {
		Topic int `json:"topic"`
	}
	if err := control(*base, "topic", map[string]any{"chat": *chat, "from": *from, "name": strings.Join(flags.Args(), " ")}, &made); err != nil {
		return failed(err)
	}
	fmt.Println(strconv.Itoa(made.Topic))
	return 0
}

func runTelegramFaults(args []string) int { return runFaults("nbs-sim telegram faults", args) }

// runFaults prints what was wrong with the bot's requests to a simulator.
func runFaults(name string, args []string) int {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	response, err := http.Get(*base + "/control/faults")
	if err != nil {
		return failed(err)
	}
	var faults []string
	if _, err := read(response, &faults); err != nil {
		return failed(err)
	}
	for _, fault := range faults {
		fmt.Println(fault)
	}
	if len(faults) > 0 {
		return 1
	}
	return 0
}
