package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Inits is what the packages of nbs-worker do before main, by GODEBUG=inittrace=1.
type Inits struct {
	Sum      float64 `json:"sum_ms"`
	Packages int     `json:"packages"`
	Dearest  []Init  `json:"dearest"` // the five that take longest
}

// Init is one package.
type Init struct {
	Package string  `json:"package"`
	Took    float64 `json:"took_ms"`
	Bytes   int     `json:"bytes"`
}

// inits runs `version` several times and keeps each package's median.
func (w *world) inits(ctx context.Context, runs int) (Inits, error) {
	took := map[string][]float64{}
	size := map[string]int{}
	for range runs {
		cmd := w.command(ctx, w.nbs("version")...)
		cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			return Inits{}, fmt.Errorf("trace inits: %w\n%s", err, trace.String())
		}
		for _, one := range readInits(trace.String()) {
			took[one.Package] = append(took[one.Package], one.Took)
			size[one.Package] = one.Bytes
		}
	}
	sum := Inits{Packages: len(took)}
	for name, series := range took {
		slices.Sort(series)
		one := Init{Package: name, Took: series[len(series)/2], Bytes: size[name]}
		sum.Sum += one.Took
		sum.Dearest = append(sum.Dearest, one)
	}
	slices.SortFunc(sum.Dearest, func(a, b Init) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Package, b.Package))
	})
	sum.Dearest = sum.Dearest[:min(5, len(sum.Dearest))]
	return sum, nil
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes`)

func readInits(trace string) []Init {
	var found []Init
	for _, m := range initLine.FindAllStringSubmatch(trace, -1) {
		one := Init{Package: m[1]}
		one.Took, _ = strconv.ParseFloat(m[2], 64)
		one.Bytes, _ = strconv.Atoi(m[3])
		found = append(found, one)
	}
	return found
}
