// The floor of what claude calls: a Go program that does nothing.
package main

func main() {}
