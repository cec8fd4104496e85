package changes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	dir := rig.MemoryDir(t)
	r := repo{t, filepath.Join(dir, "shop")}
	r.write("cart/price.go", "package cart\n\n\tif a  {\t// \x1b[31m\n")
	r.write("cart/a:b", strings.Repeat("x", 200))
	r.write("../secret", "secret\n")
	rig.Must(t, os.Symlink("../../secret", filepath.Join(r.dir, "cart/link")))
	r.git("init", "-q")
	for folder, file := range map[string]string{r.dir: "cart/price.go", r.dir + "/cart": "cart/price.go", dir: "shop/cart/price.go"} {
		alice := &agent.Record{Spec: agent.Spec{ProjectRoot: folder}}
		for place, want := range map[string]string{
			file + ":1": "package cart", file + ":1-3": "package cart", file + ":2": "", file + ":3": "if a {", strings.Replace(file, "price.go", "a:b:1", 1): strings.Repeat("x", 119) + "…",
		} {
			p, err := ParsePlace(place)
			rig.Must(t, err)
			line, err := p.Read(t.Context(), alice, &agent.Report{})
			text := p.In(line, "Why?")
			rig.Check(t, err == nil && strings.HasPrefix(text, "About "+place) && strings.Contains(text, want) && strings.HasSuffix(text, ": Why?") && !strings.Contains(text, "\x1b"), "%s: %q, %v", place, text, err)
		}
		p, err := ParsePlace(file + ":4")
		rig.Must(t, err)
		_, err = p.Read(t.Context(), alice, &agent.Report{})
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "has 3 lines"), "a line that is not there: %v", err)
	}
	for _, name := range []string{"cart/no.go", "cart"} {
		_, err := Place{name, 1, 1}.Read(t.Context(), &agent.Record{Spec: agent.Spec{ProjectRoot: r.dir}}, &agent.Report{})
		rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), "is not a file in"), "%s: %v", name, err)
	}
	line, err := Place{"cart/link", 1, 1}.Read(t.Context(), &agent.Record{Spec: agent.Spec{ProjectRoot: r.dir}}, &agent.Report{})
	rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "is a link to no file in") && line == "", "a link leads out of the tree: %q, %v", line, err)
	for _, text := range []string{"", ":", "a", "a:", ":1", "a:0", "a:-1", "a:x", "a:2-1", "../a:1", "/a:1", "a\nb:1", ".:1", "a:1-", "a\x1b:1"} {
		p, err := ParsePlace(text)
		rig.Check(t, fail.KindOf(err) == fail.BadInput, "%q: %v, %v", text, p, err)
	}
}
