// The floor of the verbs that claude calls (hook, statusline): a Go program that does nothing.
package main

func main() {}
