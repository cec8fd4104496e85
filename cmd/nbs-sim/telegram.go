package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/sim/telegram"
)

// telegramVerbs are what a script does as a user of a simulator that runs.
var telegramVerbs = map[string]func(args []string) int{
	"say": runTelegramSay, "show": runTelegramShow, "edit": runTelegramEdit, "press": runTelegramPress, "user": runTelegramUser,
	"group": runTelegramGroup, "topic": runTelegramTopic, "faults": runTelegramFaults,
}

func runTelegram(args []string) int {
	if len(args) > 0 {
		if verb, is := telegramVerbs[args[0]]; is {
			return verb(args[1:])
		}
	}
	flags := flag.NewFlagSet("nbs-sim telegram", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "loopback address to listen on")
	portFile := flags.String("port-file", "", "write the port into this file once it is served")
	token := flags.String("token", telegram.Token, "the bot's token")
	privacy := flags.Bool("privacy", false, "the bot does not read all that is written in groups")
	rates := flags.Bool("rates", false, "hold the bot to Telegram's limits of the rate")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	return serveUntilStopped(*portFile, func() (simulator, error) {
		return telegram.Start(telegram.Options{Listen: *listen, Token: *token, Privacy: *privacy, Rates: *rates})
	})
}

func runTelegramSay(args []string) int {
	flags := flag.NewFlagSet("nbs-sim telegram say", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	replies := flags.Int("replies", 1, "messages of the bot to wait for")
	wait := flags.Duration("wait", time.Minute, "for how long")
	var m telegram.Message
	flags.Int64Var(&m.Chat, "chat", 1, "number of the chat")
	flags.Int64Var(&m.From, "from", 0, "number of the user; the chat's when it is private")
	flags.IntVar(&m.Topic, "topic", 0, "number of the topic")
	flags.IntVar(&m.ReplyTo, "reply-to", 0, "number of the message that is answered")
	file := flags.String("file", "", "send this file, with the text below it")
	kind := flags.String("as", "document", "what the file is: photo, document, voice, audio, video")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if m.Text = strings.Join(flags.Args(), " "); m.Text == "" && *file == "" {
		return misused("no text given")
	}
	if *file != "" {
		content, err := os.ReadFile(*file)
		if err != nil {
			return failed(err)
		}
		m.Media = &telegram.Media{Kind: *kind, Name: filepath.Base(*file), Content: content}
	}
	var said telegram.Message
	if err := control(*base, "say", m, &said); err != nil {
		return failed(err)
	}
	messages, enough, err := chatAfter(*base, m.Chat, said.Number, *replies, *wait)
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
		if m.Media != nil {
			who += "[" + m.Media.Kind + "] "
		}
		fmt.Println(who + m.Text)
		for _, button := range slices.Concat(m.Buttons...) {
			fmt.Printf("  [%s] %s, of message %d\n", button.Text, button.Data, m.Number)
		}
	}
	return 0
}

// control does something as a user, and reads the answer into result, unless that is nil.
func control(base, what string, body, result any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	response, err := http.Post(base+"/control/"+what, "application/json", bytes.NewReader(sent))
	if err != nil {
		return err
	}
	if result == nil {
		result = new(any)
	}
	_, err = read(response, result)
	return err
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
	if len(body) == 0 {
		return response.StatusCode, nil
	}
	return response.StatusCode, json.Unmarshal(body, into)
}
