package published

import (
	"fmt"
	"math"
	"slices"
)

// Figure is a figure of a paper redrawn: the published values beside ours.
type Figure struct {
	Paper, Section, Title string
	X                     string  // label of the horizontal axis; of bars: empty
	Curves                []Curve // ours, and the points of the published ones that the text gives
	Bars                  []Bar   // instead of curves
	Unit                  string  // of bars: "times" or "share"
}

// Curve is a cumulative distribution: shares of a whole over a quantity.
type Curve struct {
	Name      string
	Published bool
	Points    []Point // in ascending order
}

// Point is a point of a curve.
type Point struct{ X, Share float64 }

// Bar is a published number beside ours.
type Bar struct {
	Label           string
	Published       float64
	Ours, Low, High float64 // ends of a band; otherwise both are Ours
}

// curvePoints is the number of points with which our curves are drawn.
const curvePoints = 50

// distribution returns the cumulative distribution of weighted numbers.
func distribution(name string, v []weighted) Curve {
	c := Curve{Name: name}
	for n := range curvePoints + 1 {
		share := float64(n) / curvePoints
		c.Points = append(c.Points, Point{percentile(v, share), share})
	}
	return c
}

// drawn is a figure of bars, described by the numbers that it shows.
type drawn struct {
	paper, section, title, unit string
	bars                        [][2]string // a label, and the quantity
}

// drawings are the figures of bars: figures of the papers, or what their text gives of them.
var drawings = []drawn{
	{"LATE", "§5.2 and §5.3", "LATE faster than no speculation, EC2 and local clusters (figures 3 to 8)", "share", [][2]string{
		{"EC2", "heterogeneous EC2: LATE faster than no speculation by"},
		{"EC2, stragglers: Sort", "EC2 with stragglers, Sort: LATE faster than no speculation by"},
		{"Grep", "EC2 with stragglers, Grep: LATE faster than no speculation by"},
		{"WordCount", "EC2 with stragglers, WordCount: LATE faster than no speculation by"},
		{"local", "local heterogeneous: LATE faster than no speculation by"},
		{"local, stragglers", "local with stragglers: LATE faster than no speculation by"},
	}},
	{"LATE", "§5.2 and §5.3", "LATE faster than Hadoop's native speculation, on the same clusters", "share", [][2]string{
		{"EC2", "heterogeneous EC2: LATE faster than Hadoop native by"},
		{"EC2, stragglers: Sort", "EC2 with stragglers, Sort: LATE faster than Hadoop native by"},
		{"Grep", "EC2 with stragglers, Grep: LATE faster than Hadoop native by"},
		{"WordCount", "EC2 with stragglers, WordCount: LATE faster than Hadoop native by"},
		{"local", "local heterogeneous: LATE faster than Hadoop native by"},
		{"local, stragglers", "local with stragglers: LATE faster than Hadoop native by"},
	}},
	{"MANTRI", "§6.3", "Restarts per task, average phase, and their success", "share", [][2]string{
		{"Mantri, per task", "restarts per task, average phase: Mantri"},
		{"Dryad", "restarts per task, average phase: Dryad"},
		{"LATE", "restarts per task, average phase: LATE"},
		{"Hadoop", "restarts per task, average phase: Hadoop"},
		{"Mantri, success", "success of restarts, average phase: Mantri"},
		{"LATE, success", "success of restarts, average phase: LATE"},
	}},
	{"MANTRI", "§6.5", "Figure 20: recomputations that protection eliminates", "share", [][2]string{
		{"eliminated, median job", "recomputations eliminated, median job"},
		{"by replication", "part of that by replication"},
		{"by pre-computation", "part of that by pre-computation"},
	}},
	{"DOLLY", "§5.2", "Figure 7: completion time that Dolly takes off, over LATE", "share", [][2]string{
		{"Facebook", "Facebook: Dolly over LATE"},
		{"Facebook, ≤ 10 tasks", "Facebook: Dolly over LATE, jobs of at most ten tasks"},
		{"Bing", "Bing: Dolly over LATE"},
		{"Bing, ≤ 10 tasks", "Bing: Dolly over LATE, jobs of at most ten tasks"},
	}},
	{"DOLLY", "§5.2", "Figure 7: completion time that Dolly takes off, over Mantri", "share", [][2]string{
		{"Facebook", "Facebook: Dolly over Mantri"},
		{"Facebook, ≤ 10 tasks", "Facebook: Dolly over Mantri, jobs of at most ten tasks"},
		{"Bing", "Bing: Dolly over Mantri"},
		{"Bing, ≤ 10 tasks", "Bing: Dolly over Mantri, jobs of at most ten tasks"},
	}},
	{"DOLLY", "§5.3", "Figure 11: ways of assigning intermediate data, jobs of at most ten tasks (Bing)", "share", [][2]string{
		{"CAC", "small jobs with CAC over LATE (Bing)"},
		{"CC", "small jobs with CC over LATE (Bing)"},
		{"delay assignment", "small jobs with delay assignment over LATE (Bing)"},
	}},
	{"FAIR", "§6.2.1", "Table 3: node locality without delay scheduling", "share", [][2]string{
		{"3 maps", "table 3, 3 maps: node locality without delay"},
		{"10 maps", "table 3, 10 maps: node locality without delay"},
		{"100 maps", "table 3, 100 maps: node locality without delay"},
	}},
	{"FAIR", "§6.2.1", "Figure 12: throughput with delay scheduling over without", "times", [][2]string{
		{"10 maps", "figure 12, 10 maps: throughput with delay over without"},
		{"100 maps", "figure 12, 100 maps: throughput with delay over without"},
	}},
	{"FAIR", "§6.2.2", "Figure 13: throughput with delay scheduling over sticky slots", "times", [][2]string{
		{"10 jobs", "figure 13, 10 jobs: throughput with delay over sticky slots"},
		{"20 jobs", "figure 13, 20 jobs: throughput with delay over sticky slots"},
		{"50 jobs", "figure 13, 50 jobs: throughput with delay over sticky slots"},
	}},
	{"FAIR", "§6.2.4", "Figure 15: jobs in ten minutes with IO-rate biasing", "times", [][2]string{
		{"scan, over delay", "figure 15: scan jobs in ten minutes with IO-rate biasing over untuned delay"},
		{"compute, over delay", "figure 15: compute jobs in ten minutes with IO-rate biasing over untuned delay"},
		{"scan, over none", "figure 15: scan jobs in ten minutes with IO-rate biasing over no delay"},
		{"compute, over none", "figure 15: compute jobs in ten minutes with IO-rate biasing over no delay"},
	}},
	{"FAIR", "§5.3", "Figure 9: slowdown without a remedy over that with it", "times", [][2]string{
		{"fair sharing", "figure 9: slowdown is so many times as large without fair sharing"},
		{"preemption", "figure 9: slowdown is so many times as large without preemption under fair sharing"},
		{"copy-compute splitting", "figure 9: slowdown is so many times as large without copy-compute splitting under fair sharing"},
	}},
	{"QUINCY", "§6", "Greedy queues over Quincy: data moved; throughput of Quincy over theirs, less one", "times", [][2]string{
		{"data moved", "data moved by greedy queues over that by Quincy, up to"},
		{"throughput", "throughput of Quincy over that of greedy queues, more by up to"},
	}},
	{"FAIR", "§6.1", "Figure 10: gain of the smallest jobs over FIFO", "times", [][2]string{
		{"fair sharing with copy-compute splitting", "figure 10: mean gain of jobs of 16 maps by fair sharing with copy-compute splitting over FIFO"},
		{"the most", "figure 10: the most that one of them gains"},
	}},
}

// barFigures returns the figures of bars whose numbers are among the rows.
func barFigures(rows []Row) (figures []Figure) {
	for _, d := range drawings {
		f := Figure{Paper: d.paper, Section: d.section, Title: d.title, Unit: d.unit}
		for _, b := range d.bars {
			n := slices.IndexFunc(rows, func(r Row) bool { return r.Paper == d.paper && r.Quantity == b[1] })
			if n < 0 || math.IsNaN(rows[n].Ours) {
				continue
			}
			r := &rows[n]
			x := Bar{b[0], r.Published, r.Ours, r.Ours, r.Ours}
			if r.Kind == Band {
				x.Low, x.High = r.Ours-r.Tolerance, r.Ours+r.Tolerance
			}
			f.Bars = append(f.Bars, x)
		}
		if len(f.Bars) > 0 {
			figures = append(figures, f)
		}
	}
	return figures
}

// figure adds a figure of curves.
func (t *table) figure(section, title, x string, curves ...Curve) {
	t.figures = append(t.figures, Figure{Paper: t.paper, Section: section, Title: title, X: x, Curves: curves})
}

// quantiles returns a published curve from numbers in the text and the shares at which they lie, alternating.
func quantiles(name string, v ...float64) Curve {
	c := Curve{Name: name, Published: true}
	for n := 0; n+1 < len(v); n += 2 {
		c.Points = append(c.Points, Point{v[n], v[n+1]})
	}
	return c
}

// figureSheet is a figure laid out for drawing: horizontal positions in percent, vertical ones in pixels.
type figureSheet struct {
	ID, Title      string
	XTicks, YTicks []tickSheet
	Lines          []lineSheet
	Bars           []barSheet
}

type tickSheet struct{ At, Text string }

type lineSheet struct {
	Class, Dash, Name string
	Segments          [][4]string
	Dots              [][3]string // x, y, title
}

type barSheet struct {
	Number                  int // in the list below the figure
	Label, LabelX           string
	PublishedX, OursX, Wide string
	PublishedY, PublishedH  string
	OursY, OursH            string
	WhiskX, LowY, HighY     string
	Title                   string
}

const (
	figureTop    = 8.0
	figureBottom = 118.0
)

func newFigureSheet(n int, f *Figure) figureSheet {
	s := figureSheet{ID: fmt.Sprintf("figure-%d", n), Title: f.Section + ", " + f.Title}
	if len(f.Bars) > 0 {
		s.bars(f)
		return s
	}
	s.curves(f)
	return s
}

func pixels(share float64) string {
	return fmt.Sprintf("%.1f", figureBottom-(figureBottom-figureTop)*min(max(share, 0), 1))
}

func percents(x float64) string { return fmt.Sprintf("%.2f", x) }

// curves draws shares over a quantity, from the least to the greatest value in the middle nine tenths of any curve.
func (s *figureSheet) curves(f *Figure) {
	s.Title += "; share of the phases or jobs over " + f.X
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range f.Curves {
		for _, p := range c.Points {
			if p.Share >= 0.05 && p.Share <= 0.95 || c.Published {
				low, high = min(low, p.X), max(high, p.X)
			}
		}
	}
	low, high = math.Floor(low*10)/10, math.Ceil(high*10)/10
	if high <= low {
		high = low + 0.1
	}
	x := func(v float64) string { return percents(100 * (v - low) / (high - low)) }
	for n := range 5 {
		v := low + (high-low)*float64(n)/4
		s.XTicks = append(s.XTicks, tickSheet{x(v), fmt.Sprintf("%.0f %%", 100*v)})
		s.YTicks = append(s.YTicks, tickSheet{pixels(float64(n) / 4), fmt.Sprintf("%d %%", 25*n)})
	}
	dashes := []string{"", "5 3", "2 2", "8 3 2 3", "1 3"}
	ours := 0
	for _, c := range f.Curves {
		own := slices.IndexFunc(f.Curves, func(d Curve) bool { return d.Name == c.Name }) // published points have the colour of our curve
		l := lineSheet{Class: fmt.Sprintf("s-%d", own%6+1), Name: c.Name}
		if c.Published {
			l.Name = c.Name + ", published"
		} else {
			l.Dash = dashes[ours%len(dashes)]
			ours++
		}
		for k, p := range c.Points {
			inside := p.X >= low && p.X <= high
			if c.Published && inside {
				title := fmt.Sprintf("%s: %.1f %% at %.0f %% of the phases or jobs", l.Name, 100*p.X, 100*p.Share)
				l.Dots = append(l.Dots, [3]string{x(p.X), pixels(p.Share), title})
			}
			if k == 0 || c.Published {
				continue
			}
			if q := c.Points[k-1]; inside && q.X >= low && q.X <= high {
				l.Segments = append(l.Segments, [4]string{x(q.X), pixels(q.Share), x(p.X), pixels(p.Share)})
			}
		}
		s.Lines = append(s.Lines, l)
	}
}

// bars draws published values beside ours, from 0.
func (s *figureSheet) bars(f *Figure) {
	top := 0.0
	for _, b := range f.Bars {
		top = max(top, b.Published, b.High)
	}
	step := math.Pow(10, math.Floor(math.Log10(max(top, 1e-9))))
	for top/step > 4 {
		step *= 2
	}
	top = step * math.Ceil(top/step-1e-9)
	word := func(v float64) string {
		if f.Unit == "times" {
			return fmt.Sprintf("%.3g×", v)
		}
		return fmt.Sprintf("%.3g\u00a0%%", 100*v)
	}
	for v := 0.0; v <= top*1.001; v += step {
		s.YTicks = append(s.YTicks, tickSheet{pixels(v / top), word(v)})
	}
	each := 100 / float64(len(f.Bars))
	for n, b := range f.Bars {
		at := each * float64(n)
		x := barSheet{
			Number: n + 1, Label: b.Label, LabelX: percents(at + each/2), PublishedX: percents(at + each*0.18), OursX: percents(at + each*0.52), Wide: percents(each * 0.3),
			WhiskX: percents(at + each*0.67), Title: fmt.Sprintf("%s: published %s, ours %s", b.Label, word(b.Published), word(b.Ours)),
		}
		height := func(v float64) (y, h string) {
			v = min(max(v/top, 0), 1)
			return pixels(v), fmt.Sprintf("%.1f", (figureBottom-figureTop)*v)
		}
		x.PublishedY, x.PublishedH = height(b.Published)
		x.OursY, x.OursH = height(b.Ours)
		if b.High > b.Low {
			x.LowY, x.HighY = pixels(b.Low/top), pixels(b.High/top)
			x.Title += fmt.Sprintf(" (%s to %s)", word(b.Low), word(b.High))
		}
		s.Bars = append(s.Bars, x)
	}
}
