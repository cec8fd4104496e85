//go:build !race

package rig

var raceFlags []string
