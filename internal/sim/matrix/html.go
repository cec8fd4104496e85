package matrix

import (
	"regexp"
	"slices"
	"strings"
)

// attributes are the tags that clients show, with the attributes that they keep.
var attributes = map[string]string{
	"span": "data-mx-bg-color data-mx-color data-mx-spoiler data-mx-maths", "a": "target href", "img": "width height alt title src", "ol": "start",
	"code": "class", "div": "data-mx-maths",
}

const plainTags = "del h1 h2 h3 h4 h5 h6 blockquote p ul sup sub li b i u strong em s hr br table thead tbody tr th td caption pre details summary"

// void are the tags that need no end.
const void = "hr br img"

var (
	tag       = regexp.MustCompile(`<(/?)([A-Za-z][A-Za-z0-9-]*)((?:\s+[A-Za-z-]+(?:="[^"<>]*")?)*)\s*/?>`)
	attribute = regexp.MustCompile(`([A-Za-z-]+)(?:="([^"]*)")?`)
	scheme    = regexp.MustCompile(`^(https?|ftp|mailto|magnet):`)
)

// maxDepth is how deep tags may be nested.
const maxDepth = 100

// unsafe returns what clients drop of the HTML of a message, and where it is not well formed.
func unsafe(html string) (wrong []string) {
	var open []string
	rest := tag.ReplaceAllStringFunc(html, func(found string) string {
		parts := tag.FindStringSubmatch(found)
		name := strings.ToLower(parts[2])
		kept, is := attributes[name]
		switch {
		case !is && !slices.Contains(strings.Fields(plainTags), name):
			wrong = append(wrong, found)
		case parts[1] == "/" && (len(open) == 0 || open[len(open)-1] != name):
			wrong = append(wrong, found+" without a beginning")
		case parts[1] == "/":
			open = open[:len(open)-1]
		case !slices.Contains(strings.Fields(void), name):
			open = append(open, name)
		}
		if len(open) > maxDepth {
			wrong = append(wrong, found+" is nested too deep")
		}
		for _, a := range attribute.FindAllStringSubmatch(parts[3], -1) {
			isKept := slices.Contains(strings.Fields(kept), a[1]) && (a[1] != "href" || scheme.MatchString(a[2])) &&
				(a[1] != "src" || strings.HasPrefix(a[2], "mxc://")) && (a[1] != "class" || strings.HasPrefix(a[2], "language-"))
			if !isKept {
				wrong = append(wrong, found)
			}
		}
		return ""
	})
	if strings.ContainsAny(rest, "<>") {
		wrong = append(wrong, "< or > outside of a tag")
	}
	if len(open) > 0 {
		wrong = append(wrong, "<"+open[len(open)-1]+"> without an end")
	}
	return wrong
}
