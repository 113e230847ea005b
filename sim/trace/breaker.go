package trace

import (
	"bytes"
	"encoding/json"
)

// breakerHead is what breakers of both kinds have.
type breakerHead struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Reports string `json:"reports"`
	By      string `json:"by,omitempty"`
}

// A breaker as it is written, by its kind: both kinds have settings of one name.
type (
	toolBreaker struct {
		breakerHead
		*Tool
		Further
	}
	modelBreaker struct {
		breakerHead
		*Model
		Further
	}
)

// MarshalJSON writes the settings of the breaker's kind.
func (b Breaker) MarshalJSON() ([]byte, error) {
	head := breakerHead{b.Name, b.Kind, b.Reports, b.By}
	if b.Model != nil {
		return json.Marshal(modelBreaker{head, b.Model, b.Further})
	}
	return json.Marshal(toolBreaker{head, b.Tool, b.Further})
}

// UnmarshalJSON reads the settings of the kind that the breaker says it is of.
// Keys of the other kind are unknown.
func (b *Breaker) UnmarshalJSON(j []byte) error {
	var of struct{ Kind string }
	if err := json.Unmarshal(j, &of); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(j))
	d.DisallowUnknownFields()
	if of.Kind == "model" {
		var m modelBreaker
		err := d.Decode(&m)
		*b = Breaker{Name: m.Name, Kind: m.Kind, Reports: m.Reports, By: m.By, Model: m.Model, Further: m.Further}
		return err
	}
	var t toolBreaker
	err := d.Decode(&t)
	*b = Breaker{Name: t.Name, Kind: t.Kind, Reports: t.Reports, By: t.By, Tool: t.Tool, Further: t.Further}
	return err
}
