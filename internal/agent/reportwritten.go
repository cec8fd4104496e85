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
	var activity Activity
	if w.object("activity", func() { activity = w.activity() }) {
		r.Activity = &activity
	}
	var failure Failure
	if w.object("failure", func() { failure = Failure{Class: w.string("class"), At: w.time("at")} }) {
		r.Failure = &failure
	}
	var end End
	if w.object("end", func() { end = End{Reason: w.string("reason"), At: w.time("at")} }) {
		r.End = &end
	}
	var gauge Gauge
	if w.object("gauge", func() { gauge = w.gauge() }) {
		r.Gauge = &gauge
	}
	return r, w.ok()
}

func (w *written) activity() Activity {
	return Activity{
		State:  State(w.string("state")),
		Detail: w.string("detail"),
		Hook:   w.string("hook"),
		At:     w.time("at"),
	}
}

func (w *written) gauge() Gauge {
	return Gauge{
		Tokens:      w.int("tokens"),
		Window:      w.int("window"),
		UsedPercent: w.intOrNull("used_percent"),
		CostUSD:     w.float("cost_usd"),
		At:          w.time("at"),
	}
}
