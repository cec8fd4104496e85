package fake

import (
	"flag"
	"fmt"
	"slices"
	"sync/atomic"
)

// likeMac reports whether new machines behave like macOS.
var likeMac atomic.Bool

// OnEach is for TestMain. It runs the tests of a package twice: on machines that behave like Linux, and on machines that
// behave like macOS. A test whose result depends on that asks [Machine.Mac].
func OnEach(m interface{ Run() int }) interface{ Run() int } { return each{m} }

// once reports whether the tests are only listed, or fuzzed.
func once() bool {
	return slices.ContainsFunc([]string{"test.list", "test.fuzz", "test.bench"}, func(name string) bool {
		set := flag.Lookup(name)
		return set != nil && set.Value.String() != ""
	})
}

type each struct{ tests interface{ Run() int } }

func (e each) Run() int {
	if code := e.tests.Run(); code != 0 || once() {
		return code
	}
	likeMac.Store(true)
	defer likeMac.Store(false)
	code := e.tests.Run()
	if code != 0 {
		fmt.Println("the machine behaved like macOS") //nolint:forbidigo // for who reads the failure
	}
	return code
}
