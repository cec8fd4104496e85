package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/creack/pty"
)

// question is how a question to a person ends.
const question = "[y/N] "

// terminal is a program for scripts: it runs another one on a terminal of its own, prints what that shows, and ends with
// its code. It types the text of -type when a question is asked, and that of -before before the program runs.
func terminal() int {
	answer, before := flag.String("type", "", "answer to the question"), flag.String("before", "", "what was typed before")
	flag.Parse()
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	keyboard, screen, err := pty.Open()
	if err == nil && *before != "" {
		_, err = keyboard.WriteString(*before + "\n")
	}
	if err == nil {
		err = pty.Setsize(keyboard, &pty.Winsize{Rows: 40, Cols: 120})
	}
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		return 125
	}
	_ = screen.Close()
	fmt.Print(converse(keyboard, *answer))
	_ = cmd.Wait() // the code tells
	return cmd.ProcessState.ExitCode()
}

// converse returns what a terminal shows until the program on it has ended.
func converse(keyboard *os.File, answer string) string {
	var shown strings.Builder
	buffer := make([]byte, 4<<10)
	for {
		n, err := keyboard.Read(buffer) // fails when the program has ended
		shown.Write(buffer[:n])
		if answer != "" && strings.HasSuffix(shown.String(), question) {
			_, _ = keyboard.WriteString(answer + "\n") // who does not read it is known by what it shows
			answer = ""
		}
		if err != nil {
			return strings.ReplaceAll(shown.String(), "\r\n", "\n")
		}
	}
}
