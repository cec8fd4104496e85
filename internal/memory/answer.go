package memory

import (
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AnswerSchema is what an observer may answer, as a JSON schema.
const AnswerSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["observations"],
  "properties": {
    "observations": {
      "type": "array",
      "maxItems": 50,
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["type", "title"],
        "properties": {
          "type": {"enum": ["decision", "fix", "discovery", "change", "open_end", "question"]},
          "title": {"type": "string", "minLength": 1, "maxLength": 300},
          "narrative": {"type": "string", "maxLength": 8000},
          "facts": {"type": "array", "maxItems": 40, "items": {"type": "string", "maxLength": 1000}},
          "files": {"type": "array", "maxItems": 40, "items": {"type": "string", "maxLength": 1000}}
        }
      }
    }
  }
}`

const answerLimit = 1 << 20 // bytes

type answer struct {
	Observations *[]answered `json:"observations"`
}

type answered struct {
	Type      Type     `json:"type"`
	Title     string   `json:"title"`
	Narrative string   `json:"narrative"`
	Facts     []string `json:"facts"`
	Files     []string `json:"files"`
}

// ReadAnswer reads an observer's answer: one JSON object after [AnswerSchema]. It removes a Markdown fence around it,
// which models often add. An answer may have no observations. Errors: BadInput, with words that can be shown to the
// model.
func ReadAnswer(text string) ([]Observation, error) {
	if len(text) > answerLimit {
		return nil, fail.Errorf(fail.BadInput, "the answer is longer than %d bytes", answerLimit)
	}
	var a answer
	err := json.Unmarshal([]byte(unfenced(text)), &a, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false))
	if err != nil {
		return nil, fail.Errorf(fail.BadInput, "the answer is not the JSON object that was asked for: %w", err)
	}
	if a.Observations == nil {
		return nil, fail.Errorf(fail.BadInput, `the answer has no "observations"`)
	}
	if len(*a.Observations) > ObservationsLimit {
		return nil, fail.Errorf(fail.BadInput, "there are more than %d observations", ObservationsLimit)
	}
	var all []Observation
	for i, one := range *a.Observations {
		o := Observation{Type: one.Type, Title: human.OneLine(one.Title), Narrative: one.Narrative, Facts: lines(one.Facts), Files: one.Files}
		if err := o.Validate(); err != nil {
			return nil, fail.Errorf(fail.BadInput, "observation %d: %w", i+1, err)
		}
		all = append(all, o)
	}
	return all, nil
}

func lines(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, human.OneLine(text))
	}
	return all
}

// unfenced removes a Markdown fence that encloses the whole text.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	const fence = "```"
	inside, found := strings.CutPrefix(text, fence)
	inside, closed := strings.CutSuffix(inside, fence)
	language, body, lines := strings.Cut(inside, "\n")
	if found && closed && lines && (language == "" || strings.TrimSpace(language) == "json") {
		return body
	}
	return text
}
