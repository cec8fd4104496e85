package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/sim/telegram"
)

func runTelegram(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "say":
			return runTelegramSay(args[1:])
		case "show":
			return runTelegramShow(args[1:])
		}
	}
	flags := flag.NewFlagSet("nbs-sim telegram", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "loopback address to listen on")
	portFile := flags.String("port-file", "", "write the port into this file once it is served")
	token := flags.String("token", telegram.Token, "the bot's token")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	return serveUntilStopped(*portFile, func() (simulator, error) {
		return telegram.Start(telegram.Options{Listen: *listen, Token: *token})
	})
}

func runTelegramSay(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram say", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	chat := flags.Int64("chat", 1, "number of the chat")
	replies := flags.Int("replies", 1, "messages of the bot to wait for")
	wait := flags.Duration("wait", time.Minute, "for how long")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		return misused("no text given")
	}
	body, err := json.Marshal(telegram.Message{Chat: *chat, Text: strings.Join(flags.Args(), " ")})
	if err != nil {
		return failed(err)
	}
	response, err := http.Post(*base+"/control/say", "application/json", bytes.NewReader(body))
	if err != nil {
		return failed(err)
	}
	var said telegram.Message
	if _, err := read(response, &said); err != nil {
		return failed(err)
	}
	messages, enough, err := chatAfter(*base, *chat, said.Number, *replies, *wait)
	if err != nil {
		return failed(err)
	}
	for _, m := range messages {
		if m.Bot {
			fmt.Println(m.Text)
		}
	}
	if !enough {
		return failed(fmt.Errorf("fewer than %d replies within %s", *replies, *wait))
	}
	return 0
}

func runTelegramShow(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram show", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	chat := flags.Int64("chat", 1, "number of the chat")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	messages, _, err := chatAfter(*base, *chat, 0, 0, 0)
	if err != nil {
		return failed(err)
	}
	for _, m := range messages {
		who := "User: "
		if m.Bot {
			who = "Agent: "
		}
		fmt.Println(who + m.Text)
	}
	return 0
}

// chatAfter asks for the messages of a chat after a number; enough reports whether the wanted replies are among them.
func chatAfter(base string, chat int64, after, replies int, wait time.Duration) (messages []telegram.Message, enough bool, err error) {
	query := url.Values{
		"chat": {strconv.FormatInt(chat, 10)}, "after": {strconv.Itoa(after)}, "replies": {strconv.Itoa(replies)}, "wait": {wait.String()},
	}
	response, err := http.Get(base + "/control/chat?" + query.Encode())
	if err != nil {
		return nil, false, err
	}
	status, err := read(response, &messages)
	return messages, status == http.StatusOK, err
}

// read decodes a response. A 408 has the same content, with too few replies.
func read(response *http.Response, into any) (status int, err error) {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusRequestTimeout {
		return 0, fmt.Errorf("%s: %s", response.Status, bytes.TrimSpace(body))
	}
	return response.StatusCode, json.Unmarshal(body, into)
}
