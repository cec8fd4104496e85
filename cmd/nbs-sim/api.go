package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/sim/api"
)

func runAPI(args []string) int {
	flags := flag.NewFlagSet("nbs-sim api", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "loopback address to listen on")
	portFile := flags.String("port-file", "", "write the port into this file once it is served")
	logFile := flags.String("log-file", "", "append each request to this file as a line of JSON")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	return serveUntilStopped(*portFile, func() (simulator, error) {
		return api.Start(api.Options{Listen: *listen, LogFile: *logFile})
	})
}

// simulator is a server on loopback.
type simulator interface {
	URL() string
	Close() error
}

// serveUntilStopped starts a simulator, announces its URL, and closes it at a signal.
func serveUntilStopped(portFile string, start func() (simulator, error)) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	server, err := start()
	if err != nil {
		return failed(err)
	}
	if err := announce(server.URL(), portFile); err != nil {
		return failed(errors.Join(err, server.Close()))
	}
	<-ctx.Done()
	if err := server.Close(); err != nil {
		return failed(err)
	}
	return 0
}

// announce prints the URL and writes the port; the file appears complete or not at all, so that its existence can be waited for.
func announce(url, file string) error {
	fmt.Println(url)
	if file == "" {
		return nil
	}
	port := url[strings.LastIndex(url, ":")+1:]
	temp := file + ".tmp"
	if err := os.WriteFile(temp, []byte(port+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, file)
}

// runSleep is the child that misbehaving programs leave behind. It polls nothing.
func runSleep(args []string) int {
	if len(args) == 0 {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		<-ctx.Done()
		return 0
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return failed(err)
	}
	time.Sleep(d)
	return 0
}
