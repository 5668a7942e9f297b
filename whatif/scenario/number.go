package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gopkg.in/yaml.v3"
)

// Number is a number of a file, or a distribution that one is drawn from:
//
//	3
//	{uniform: [from, to]}
//	{normal: [mean, deviation], least: 1}
//	{exponential: mean}
//	{lognormal: [median, deviation of the logarithm]}
//	{sum: 100, of: NUMBER}
//	{mix: [{share: 0.9, of: NUMBER}, {share: 0.1, of: NUMBER}]}
//
// least, with any of them, is the smallest that is given.
type Number struct {
	kind  string
	args  []float64
	least float64
	of    *Number
	mix   []part
}

type part struct {
	share float64
	of    *Number
}

// UnmarshalYAML reads a number or a distribution.
func (n *Number) UnmarshalYAML(node *yaml.Node) error {
	n.least = math.Inf(-1)
	if node.Kind == yaml.ScalarNode {
		n.kind, n.args = "constant", make([]float64, 1)
		if err := node.Decode(&n.args[0]); err != nil || math.IsNaN(n.args[0]) || math.IsInf(n.args[0], 0) {
			return wrong(node, "%q is not a number", node.Value)
		}
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return wrong(node, "a number or a distribution is wanted")
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if err := n.field(node.Content[i], node.Content[i+1]); err != nil {
			return err
		}
	}
	return n.check(node)
}

// arguments says how many numbers each distribution takes.
var arguments = map[string]int{"uniform": 2, "normal": 2, "exponential": 1, "lognormal": 2, "sum": 1}

func (n *Number) field(key, value *yaml.Node) error {
	wanted, known := arguments[key.Value]
	switch {
	case key.Value == "least":
		return decode(value, &n.least)
	case key.Value == "of":
		n.of = &Number{}
		return n.of.UnmarshalYAML(value)
	case n.kind != "":
		return wrong(key, "%s after %s: one distribution is wanted", key.Value, n.kind)
	case key.Value == "mix":
		n.kind = "mix"
		return n.parts(value)
	case !known:
		return wrong(key, "there is no distribution %q; there are uniform, normal, exponential, lognormal, sum and mix", key.Value)
	}
	n.kind = key.Value
	if wanted == 1 {
		n.args = make([]float64, 1)
		return decode(value, &n.args[0])
	}
	if err := decode(value, &n.args); err != nil {
		return err
	}
	if len(n.args) != wanted {
		return wrong(value, "%s wants %d numbers", n.kind, wanted)
	}
	return nil
}

func (n *Number) parts(list *yaml.Node) error {
	total := 0.0
	for _, item := range list.Content {
		var p struct {
			Share float64 `yaml:"share"`
			Of    *Number `yaml:"of"`
		}
		if err := decode(item, &p); err != nil {
			return err
		}
		if p.Of == nil || !(p.Share > 0) {
			return wrong(item, "a part of a mix wants a share above 0 and what it is of")
		}
		total += p.Share
		n.mix = append(n.mix, part{p.Share, p.Of})
	}
	if math.Abs(total-1) > 1e-9 {
		return wrong(list, "the shares of a mix add up to %g, not to 1", total)
	}
	return nil
}

func (n *Number) check(node *yaml.Node) error {
	switch {
	case n.kind == "":
		return wrong(node, "no distribution is named")
	case n.kind == "uniform" && n.args[0] > n.args[1]:
		return wrong(node, "uniform wants the smaller number first")
	case (n.kind == "normal" || n.kind == "lognormal") && n.args[1] < 0:
		return wrong(node, "a deviation is not negative")
	case (n.kind == "lognormal" || n.kind == "exponential") && !(n.args[0] > 0):
		return wrong(node, "%s wants a number above 0", n.kind)
	case n.kind == "sum" && (n.of == nil || !(n.args[0] >= 1 && n.args[0] <= 1e4)):
		return wrong(node, "sum wants how many, 1 to 10000, and what they are of")
	case n.kind != "sum" && n.of != nil:
		return wrong(node, "of belongs to sum")
	}
	return nil
}

// Draw draws a number.
func (n *Number) Draw(r *rand.Rand) float64 { return max(n.draw(r), n.least) }

func (n *Number) draw(r *rand.Rand) float64 {
	switch n.kind {
	case "uniform":
		return n.args[0] + (n.args[1]-n.args[0])*r.Float64()
	case "normal":
		return n.args[0] + n.args[1]*r.NormFloat64()
	case "exponential":
		return n.args[0] * r.ExpFloat64()
	case "lognormal":
		return n.args[0] * math.Exp(n.args[1]*r.NormFloat64())
	case "sum":
		sum := 0.0
		for range int(n.args[0]) {
			sum += n.of.Draw(r)
		}
		return sum
	case "mix":
		u := r.Float64()
		for _, p := range n.mix[:len(n.mix)-1] {
			if u < p.share {
				return p.of.Draw(r)
			}
			u -= p.share
		}
		return n.mix[len(n.mix)-1].of.Draw(r)
	}
	return n.args[0]
}

func decode(node *yaml.Node, to any) error {
	if err := node.Decode(to); err != nil {
		return wrong(node, "%v", err)
	}
	return nil
}

// wrong is an error of a file, with the line that it is on.
func wrong(node *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", node.Line, fmt.Sprintf(format, args...))
}
