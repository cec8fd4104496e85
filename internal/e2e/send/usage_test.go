package send

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// What agents use of the machine is measured for those that run, when it is asked for.
func TestListWithUsage(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet")
	m.OK("stop", "beta")
	lines := strings.Split(strings.TrimSpace(m.OK("list", "--usage")), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[1], "\t-\t-\t-") {
		t.Fatalf("%q", lines)
	}
	fields := strings.Split(lines[0], "\t")
	memory, _ := strconv.ParseUint(fields[len(fields)-3], 10, 64)
	_, err := strconv.ParseFloat(fields[len(fields)-2], 64) // of which it has used next to nothing
	m.Check(memory >= 2<<20 && err == nil, "%q", fields)
	var agents []struct {
		Usage *struct {
			RSS uint64 `json:"rss_bytes"`
		}
	}
	m.Must(json.Unmarshal([]byte(m.OK("list", "--usage", "--json")), &agents))
	m.Check(agents[0].Usage != nil && agents[0].Usage.RSS >= 2<<20 && agents[1].Usage == nil, "%+v", agents)
	plain := m.OK("list", "--json")
	m.Check(!strings.Contains(plain, "rss_bytes"), "%s", plain)
}
