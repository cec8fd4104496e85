package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Print writes the result for a person at a terminal: medians and spread in milliseconds.
func (r Result) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s\n\n", r.Machine)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WHAT\tAGENTS\tFLOOR\tMIN\tMEDIAN\tP95\tOURS: MIN\tMEDIAN\tP95\tSAMPLES\tCOST\tBUDGET\t")
	for _, p := range r.Pairs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%d\t%s\t%s\t%s\n",
			plain(p.Name), agentsColumn(p.Agents), plain(p.Beside), p.Floor.Min, p.Floor.Median, p.Floor.P95,
			p.Ours.Min, p.Ours.Median, p.Ours.P95, p.Ours.Samples, p.Cost(), dash(p.Budget.String()), verdict(p.Missed(), p.Budget.String()))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return r.printRest(out)
}

func (r Result) printRest(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t)
	for _, c := range r.Checks {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", plain(c.Name), c.Measured, c.Budget, verdict(c.Missed, c.Budget))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if growth := r.Growth(); len(growth) > 0 {
		fmt.Fprintln(t, "\nEACH FURTHER AGENT\tFROM\tTO\tFLOOR\tOURS")
		for _, g := range growth {
			fmt.Fprintf(t, "%s\t%s\t%s\t%.0f us\t%.0f us\n", plain(g.Name), thousands(g.From), thousands(g.To), g.Floor, g.Ours)
		}
	}
	if len(r.Verbs) > 0 {
		fmt.Fprintln(t, "\nONE CALL OF\tSTARTS TMUX\tOTHER PROCESSES")
		for _, v := range r.Verbs {
			fmt.Fprintf(t, "%s\t%d\t%d\n", v.Name, v.Tmux, v.Others)
		}
	}
	fmt.Fprintf(t, "\nBEFORE MAIN\t%.2f ms\t%d packages\n", r.Inits.Sum, r.Inits.Packages)
	for _, i := range r.Inits.Dearest {
		fmt.Fprintf(t, "%s\t%.3f ms\t%d bytes\n", i.Package, i.Took, i.Bytes)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if missed := r.Missed(); len(missed) > 0 {
		fmt.Fprintf(out, "\nmissed: %s\n", plain(strings.Join(missed, "; ")))
	} else {
		fmt.Fprintln(out, "\nall budgets are held")
	}
	return nil
}

func agentsColumn(n int) string {
	if n == 0 {
		return "-"
	}
	return thousands(n)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// plain is a text without the marks of Markdown.
func plain(text string) string { return strings.ReplaceAll(text, "`", "") }
