package workload

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"straggler/strictyaml"
)

// Number is a number of a file, or a distribution that one is drawn from:
//
//	3
//	9..60                             any between the two
//	{uniform: [from, to]}
//	{normal: [mean, deviation], least: 1}
//	{exponential: mean}
//	{lognormal: [median, deviation of the logarithm]}
//	{sum: 100, of: NUMBER}
//	{mix: [{share: 0.9, of: NUMBER}, {share: 0.1, of: NUMBER}]}
//
// least, with any of the named ones, is the smallest that is given.
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

// DecodeNode reads a number or a distribution.
func (n *Number) DecodeNode(node *strictyaml.Node) error {
	n.least = math.Inf(-1)
	switch node.Kind {
	case strictyaml.Scalar:
		n.kind = "uniform"
		return n.span(node)
	case strictyaml.List:
		return node.Errorf("a number or a distribution is wanted")
	}
	for _, f := range node.Fields {
		if err := n.field(f.Name, f.Value); err != nil {
			return err
		}
	}
	return n.check(node)
}

// span reads a number, or two with dots between them.
func (n *Number) span(node *strictyaml.Node) error {
	from, to, two := strings.Cut(node.Text, "..")
	if !two {
		to = from
	}
	low, err1 := strconv.ParseFloat(strings.TrimSpace(from), 64)
	high, err2 := strconv.ParseFloat(strings.TrimSpace(to), 64)
	if err1 != nil || err2 != nil || !(low >= 0 && high >= low && high <= largest) {
		return node.Errorf("%q is neither a number from 0 up nor a range such as 9..60", node.Text)
	}
	n.args = []float64{low, high}
	return nil
}

// largest is the largest number of a file.
const largest = 1e9

// given reports whether the file has the number.
func (n *Number) given() bool { return n.kind != "" }

// most returns the largest number that can be drawn; +Inf where there is none.
func (n *Number) most() float64 {
	switch n.kind {
	case "":
		return 0
	case "uniform":
		return max(n.args[1], n.least)
	}
	return math.Inf(1)
}

// arguments is the number of parameters of each distribution.
var arguments = map[string]int{"uniform": 2, "normal": 2, "exponential": 1, "lognormal": 2, "sum": 1}

func (n *Number) field(key, value *strictyaml.Node) error {
	wanted, known := arguments[key.Text]
	switch {
	case key.Text == "least":
		return value.Decode(&n.least)
	case key.Text == "of":
		n.of = &Number{}
		return n.of.DecodeNode(value)
	case n.kind != "":
		return key.Errorf("%s after %s: one distribution is wanted", key.Text, n.kind)
	case key.Text == "mix":
		n.kind = "mix"
		return n.parts(value)
	case !known:
		return key.Errorf("there is no distribution %q; there are uniform, normal, exponential, lognormal, sum and mix", key.Text)
	}
	n.kind = key.Text
	if wanted == 1 {
		n.args = make([]float64, 1)
		return value.Decode(&n.args[0])
	}
	if err := value.Decode(&n.args); err != nil {
		return err
	}
	if len(n.args) != wanted {
		return value.Errorf("%s needs %d numbers", n.kind, wanted)
	}
	return nil
}

func (n *Number) parts(list *strictyaml.Node) error {
	var parts []struct {
		Share float64 `yaml:"share"`
		Of    *Number `yaml:"of"`
	}
	if err := list.Decode(&parts); err != nil {
		return err
	}
	total := 0.0
	for i, p := range parts {
		if p.Of == nil || !(p.Share > 0) {
			return list.Items[i].Errorf("a part of a mix needs a share above 0 and of")
		}
		total += p.Share
		n.mix = append(n.mix, part{p.Share, p.Of})
	}
	if math.Abs(total-1) > 1e-9 {
		return list.Errorf("the shares of a mix add up to %g, not to 1", total)
	}
	return nil
}

func (n *Number) check(node *strictyaml.Node) error {
	switch {
	case n.kind == "":
		return node.Errorf("no distribution is named")
	case n.kind == "uniform" && n.args[0] > n.args[1]:
		return node.Errorf("uniform needs the smaller number first")
	case (n.kind == "normal" || n.kind == "lognormal") && n.args[1] < 0:
		return node.Errorf("a deviation is not negative")
	case (n.kind == "lognormal" || n.kind == "exponential") && !(n.args[0] > 0):
		return node.Errorf("%s needs a number above 0", n.kind)
	case n.kind == "sum" && (n.of == nil || !(n.args[0] >= 1 && n.args[0] <= 1e4)):
		return node.Errorf("sum needs a count, 1 to 10000, and of")
	case n.kind != "sum" && n.of != nil:
		return node.Errorf("of belongs to sum")
	}
	return nil
}

// Draw draws a number from 0 up; 0 where the file has none.
func (n *Number) Draw(r *rand.Rand) float64 { return min(max(n.draw(r), n.least, 0), largest) }

func (n *Number) draw(r *rand.Rand) float64 {
	switch n.kind {
	case "": // as many random numbers as for a constant: what is drawn after it stays
		return 0 * r.Float64()
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
	panic("workload: a distribution that check does not know: " + n.kind)
}
