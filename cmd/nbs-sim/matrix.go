package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/sim/matrix"
)

func runMatrix(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "say":
			return runMatrixSay(args[1:])
		case "show":
			return runMatrixShow(args[1:])
		case "room":
			return runMatrixRoom(args[1:])
		case "faults":
			return runFaults("nbs-sim matrix faults", args[1:])
		}
	}
	flags := flag.NewFlagSet("nbs-sim matrix", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "loopback address to listen on")
	portFile := flags.String("port-file", "", "write the port into this file once it is served")
	token := flags.String("token", matrix.Token, "the bot's access token")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	return serveUntilStopped(*portFile, func() (simulator, error) {
		return matrix.Start(matrix.Options{Listen: *listen, Token: *token})
	})
}

func runMatrixSay(args []string) int {
	flags := flag.NewFlagSet("nbs-sim matrix say", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	replies := flags.Int("replies", 1, "messages of the bot to wait for")
	wait := flags.Duration("wait", time.Minute, "for how long")
	var m matrix.Message
	flags.StringVar(&m.Room, "room", "", "ID of the room")
	flags.StringVar(&m.From, "from", "", "ID of the user")
	flags.StringVar(&m.Thread, "thread", "", "ID of the event that began the thread")
	flags.BoolVar(&m.Mentions, "mention", false, "name the bot")
	file := flags.String("file", "", "send this file, with the text below it")
	kind := flags.String("as", "m.file", "what the file is: m.image, m.file, m.audio, m.video")
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
		m.Media = &matrix.Media{Kind: *kind, Name: filepath.Base(*file), Type: http.DetectContentType(content), Content: content}
	}
	var said matrix.Message
	if err := control(*base, "say", m, &said); err != nil {
		return failed(err)
	}
	messages, enough, err := roomAfter(*base, m.Room, said.Number, *replies, *wait)
	if err != nil {
		return failed(err)
	}
	for _, m := range messages {
		if m.From == matrix.Bot {
			fmt.Println(m.Text)
		}
	}
	if !enough {
		return failed(fmt.Errorf("fewer than %d replies within %s", *replies, *wait))
	}
	return 0
}

func runMatrixShow(args []string) int {
	flags := flag.NewFlagSet("nbs-sim matrix show", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	room := flags.String("room", "", "ID of the room")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	messages, _, err := roomAfter(*base, *room, 0, 0, 0)
	if err != nil {
		return failed(err)
	}
	for _, m := range messages {
		fmt.Println(m.From + ": " + m.Text)
	}
	return 0
}

func runMatrixRoom(args []string) int {
	flags := flag.NewFlagSet("nbs-sim matrix room", flag.ContinueOnError)
	base := flags.String("url", "", "of the simulator")
	id := flags.String("id", "!home:localhost", "ID of the room")
	name := flags.String("name", "Home", "of the room")
	invite := flags.Bool("invite", false, "only invite the bot: it joins by itself")
	encrypted := flags.Bool("encrypted", false, "encrypt the room")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	made := map[string]any{"id": *id, "name": *name, "members": flags.Args(), "invite": *invite, "encrypted": *encrypted}
	if err := control(*base, "room", made, nil); err != nil {
		return failed(err)
	}
	return 0
}

// roomAfter asks for the messages of a room after a number; enough reports whether the wanted replies are among them.
func roomAfter(base, room string, after, replies int, wait time.Duration) (messages []matrix.Message, enough bool, err error) {
	query := url.Values{"room": {room}, "after": {strconv.Itoa(after)}, "replies": {strconv.Itoa(replies)}, "wait": {wait.String()}}
	response, err := http.Get(base + "/control/room?" + query.Encode())
	if err != nil {
		return nil, false, err
	}
	status, err := read(response, &messages)
	return messages, status == http.StatusOK, err
}
