package scenarios

// Sweep is a sweep file that was read and found to make sense: a scenario with
// settings to try, in worlds that are drawn.
type Sweep struct {
	File         string // as it was given, for messages
	Name         string
	Title        string
	About        string
	Base         Base
	Worlds       []World // what is drawn from a few choices; what is the same in all is in the base already
	Axes         []Axis  // in file order, as is every list here
	Policies     []SweepPolicy
	Replications int // of each cell; with a precision the least
	Seed         uint64
	Metrics      []Metric // never empty
	Reference    []int    // by axis: which of its values is what the others are compared with
	limits       Limits
}

// Base is the scenario that a sweep is about.
type Base struct {
	Name   string // as the sweep file gives it
	File   string // for messages
	Source []byte // as it was read
	text   []byte // with what the sweep says of all worlds, and its policies
}

// SweepPolicy is one of the policies of a sweep.
type SweepPolicy struct {
	Name string
	// Flat says that no axis changes anything for it: it has no breakers, and all
	// the axes are of breakers. It is played with the reference's settings alone.
	Flat bool
}

// Axis is one setting and the values to try.
type Axis struct {
	Path   string   // as [Set] takes it
	Label  string   // the path's end, as far as it tells the axis from the others
	Values []string // YAML, on one line; at least one, and no two alike
}

// World is a setting whose value is drawn for each replication.
type World struct {
	Path    string
	Choices []Choice
}

// Choice is one value of a world and its probability.
type Choice struct {
	Value string // YAML, on one line
	P     float64
}

// defaultReplications are as many as a first look wants.
const (
	defaultReplications = 100
	mostReplications    = 10_000_000
)

// defaultMetrics are what a choice of settings turns on.
var defaultMetrics = []string{"failed", "wasted_attempts", "wait_wasted", "harm", "overshoot"}

// LoadSweep reads a sweep file, or says all that is wrong with it: the error is
// a [*Faults], of the sweep file or of its base. open finds the base by what the
// file calls it.
func LoadSweep(file string, src []byte, lim Limits, open func(name string) (file string, src []byte, err error)) (*Sweep, error) {
	d := newDecoder(file)
	d.kind = "sweep"
	root := d.tree(src, lim)
	if root == nil {
		return nil, &d.faults
	}
	var f val[sweepW]
	f.decodeNode(d, root, "a sweep, which begins with `sweep: its-name`,")
	d.read = true
	r := sweepResolver{d: d, f: &f.V, root: root, s: &Sweep{File: file, Seed: 1, Replications: defaultReplications, limits: lim}}
	if err := r.resolve(open); err != nil {
		return nil, err
	}
	if len(d.faults.Faults) > 0 {
		d.faults.sort()
		return nil, &d.faults
	}
	return r.s, nil
}

// Scenario is the base with one value of each axis and one choice of each world.
// The error is a [*Faults]: what goes by itself may not go together.
func (s *Sweep) Scenario(values, choices []int) (*Scenario, error) {
	text := s.Base.text
	var err error
	for i := range s.Worlds {
		if text, err = s.set(text, s.Worlds[i].Path, s.Worlds[i].Choices[choices[i]].Value); err != nil {
			return nil, err
		}
	}
	for i := range s.Axes {
		if text, err = s.set(text, s.Axes[i].Path, s.Axes[i].Values[values[i]]); err != nil {
			return nil, err
		}
	}
	return Load(s.Base.File, text, s.limits)
}

func (s *Sweep) set(text []byte, path, value string) ([]byte, error) {
	return Set(s.Base.File, text, path, value)
}

// Settings is how many there are: the product of the axes.
func (s *Sweep) Settings() int {
	n := 1
	for i := range s.Axes {
		n *= len(s.Axes[i].Values)
	}
	return n
}
