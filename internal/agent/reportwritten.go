package agent

import jsonv2 "github.com/go-json-experiment/json"

// ParseReport reads a report's file.
func ParseReport(data []byte) (Report, error) {
	if report, ok := readWrittenReport(data); ok {
		return report, nil
	}
	return parseAnyReport(data)
}

// parseAnyReport is ParseReport of one that another hand or program wrote, too.
func parseAnyReport(data []byte) (Report, error) {
	var report Report
	err := jsonv2.Unmarshal(data, &report, lenient)
	return report, err
}

// readWrittenReport reads a report as this program writes it.
func readWrittenReport(data []byte) (r Report, ok bool) {
	w := readWritten(string(data))
	r.Invocation = Invocation(w.string("invocation"))
	r.SessionID = SessionID(w.string("session_id"))
	w.object("activity", func() { r.Activity = w.activity() })
	w.object("failure", func() { r.Failure = &Failure{Class: w.string("class"), At: w.time("at")} })
	w.object("end", func() { r.End = &End{Reason: w.string("reason"), At: w.time("at")} })
	w.object("gauge", func() { r.Gauge = w.gauge() })
	return r, w.ok()
}

func (w *written) activity() *Activity {
	return &Activity{
		State:  State(w.string("state")),
		Detail: w.string("detail"),
		Hook:   w.string("hook"),
		At:     w.time("at"),
	}
}

func (w *written) gauge() *Gauge {
	return &Gauge{
		Tokens:      w.int("tokens"),
		Window:      w.int("window"),
		UsedPercent: w.intOrNull("used_percent"),
		CostUSD:     w.float("cost_usd"),
		At:          w.time("at"),
	}
}
