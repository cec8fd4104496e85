package queue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// lastPlace is the last place in the order: names with more digits would not sort by their numbers.
const lastPlace = 999_999_999

// names returns the files of the agent's entries, in their order.
func (q *Queue) names() ([]string, error) {
	names, err := q.nbs.List(Folder)
	names = slices.DeleteFunc(names, func(name string) bool { _, is := q.place(name); return !is })
	slices.Sort(names)
	return names, err
}

// file returns the name of an entry at a place in the order.
func (q *Queue) file(place int) string { return fmt.Sprintf("%s.%09d.json", q.handle.Key(), place) }

// place returns where in the order an entry is.
func (q *Queue) place(name string) (place int, is bool) {
	digits, is := strings.CutPrefix(name, q.handle.Key()+".") // no handle has a dot
	if !is {
		return 0, false
	}
	place, err := strconv.Atoi(strings.TrimSuffix(digits, ".json"))
	return place, err == nil && place > 0 && place <= lastPlace && q.file(place) == name
}

func (q *Queue) read(name string) (e Entry, err error) {
	data, err := q.nbs.Read(Folder, name, entryLimit)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(data, &e); err != nil || e.ID == "" {
		return e, fail.Errorf(fail.Failed, "%s is damaged", q.nbs.Label(Folder+"/"+name)).
			Hint("look at it, then remove it: rm %s", human.ShellWord(q.nbs.Path(Folder, name)))
	}
	e.name = name
	return e, nil
}

func (q *Queue) write(e *Entry) error {
	if err := q.nbs.Seal(entryOf{e, q.handle}); err != nil {
		return err
	}
	return q.nbs.WriteJSON(Folder, e.name, e, entryLimit)
}

func (q *Queue) remove(e *Entry) error { return q.nbs.Delete(Folder, e.name) }
