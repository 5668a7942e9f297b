package html

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
)

// planView is a drawn plan: operators are above their inputs. Positions are in pixels.
type planView struct {
	ID, Title, Sub string
	Width, Height  int
	Lines          []planLine
	Nodes          []planBox
}

type planLine struct {
	Path, Class string
}

type planBox struct {
	X, Y, W, H         int
	Class, Title       string
	Name, Detail, Foot string
	NameY, DetailY     int
	FootY, BarY        int
	Parts              []planPart
}

// planPart is a cause's part of the bar of an operator.
type planPart struct {
	X, W  string
	Class string
	Title string
}

// The measures of a plan, in pixels.
const (
	boxWidth  = 216
	boxHeight = 58
	boxGapX   = 18
	boxGapY   = 20
	boxPad    = 9
	boxText   = 31 // runes of a line in a box
)

func planViews(d *report.Document) []planView {
	var views []planView
	for i := range d.Queries.Rows {
		if q := &d.Queries.Rows[i]; len(q.Plan) > 0 {
			views = append(views, newPlan(fmt.Sprintf("plan-%d", i+1), q))
		}
	}
	return views
}

// newPlan lays out a plan as a tree: an operator is centred above its inputs, which have columns of their own.
func newPlan(id string, q *report.Query) planView {
	nodes := shownNodes(q.Plan)
	v := planView{ID: id, Title: "Plan of query " + report.QueryTitle(q), Sub: "took " + prose.OrDash(q.TookS, prose.Seconds) +
		", lost " + prose.OrDash(q.Loss.LostS, prose.Seconds)}
	at := map[schema.Key]int{}
	depth, column, children := make([]int, len(nodes)), make([]float64, len(nodes)), make([][]int, len(nodes))
	for i := range nodes {
		at[nodes[i].NodeID] = i
		if p, ok := at[nodes[i].ParentID.V]; ok && nodes[i].ParentID.OK {
			depth[i] = depth[p] + 1
			children[p] = append(children[p], i)
		}
	}
	leaves := 0
	for i := range nodes { // in the order of the plan, leaves come from left to right
		if len(children[i]) == 0 {
			column[i] = float64(leaves)
			leaves++
		}
		v.Height = max(v.Height, (depth[i]+1)*(boxHeight+boxGapY)+boxGapY)
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if c := children[i]; len(c) > 0 {
			column[i] = (column[c[0]] + column[c[len(c)-1]]) / 2
		}
	}
	v.Width = max(1, leaves)*(boxWidth+boxGapX) + boxGapX
	x := func(i int) int { return boxGapX + int(column[i]*float64(boxWidth+boxGapX)) }
	y := func(i int) int { return boxGapY/2 + depth[i]*(boxHeight+boxGapY) }
	for i := range nodes {
		for _, c := range children[i] {
			class := "pl-line"
			if nodes[c].OnPath {
				class += " on"
			}
			fromX, fromY, toX, toY := x(c)+boxWidth/2, y(c), x(i)+boxWidth/2, y(i)+boxHeight
			v.Lines = append(v.Lines, planLine{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", fromX, fromY, fromX, fromY-boxGapY, toX, toY+boxGapY, toX, toY), class})
		}
		v.Nodes = append(v.Nodes, newPlanBox(&nodes[i], x(i), y(i), q))
	}
	return v
}

// shownNodes omits operators that only select columns: their parents are connected to their inputs.
func shownNodes(nodes []report.PlanNode) []report.PlanNode {
	above := map[schema.Key]schema.Null[schema.Key]{}
	var kept []report.PlanNode
	for _, n := range nodes {
		for n.ParentID.OK {
			over, left := above[n.ParentID.V]
			if !left {
				break
			}
			n.ParentID = over
		}
		if n.Kind == schema.ProjectNode && n.ParentID.OK && !n.Skewed {
			above[n.NodeID] = n.ParentID
			continue
		}
		kept = append(kept, n)
	}
	return kept
}

func newPlanBox(n *report.PlanNode, x, y int, q *report.Query) planBox {
	b := planBox{X: x, Y: y, W: boxWidth, H: boxHeight, NameY: y + 18, DetailY: y + 33, FootY: y + 47, BarY: y + boxHeight - 5, Class: "pl-box"}
	if n.Skewed {
		b.Class += " skewed"
	} else if n.OnPath {
		b.Class += " on"
	}
	b.Name = shortened(nodeTitle(n))
	b.Detail = shortened(nodeDetail(n))
	var foot []string
	if n.Rows.OK {
		foot = append(foot, prose.Plural(int64(n.Rows.V), "row", "rows"))
	}
	if n.SpillBytes.V > 0 {
		foot = append(foot, "spilled "+prose.Bytes(n.SpillBytes.V))
	}
	if n.LostS.V > 0 {
		foot = append(foot, "lost "+prose.Seconds(n.LostS.V))
	}
	b.Foot = shortened(strings.Join(foot, ", "))
	title := append(prose.NonEmpty(nodeTitle(n), nodeDetail(n), prose.Clean(n.Detail.V, prose.TextRunes), strings.Join(foot, ", ")),
		strings.Join(n.Phases, ", "))
	if parts := view.PartsText(n.Parts); len(n.Parts) > 0 {
		title = append(title, "its phases lost "+parts)
	}
	b.Title = strings.Join(prose.NonEmpty(title...), " · ")
	if whole := q.Loss.LostS.V; whole > 0 {
		at := float64(x + boxPad)
		for _, p := range n.Parts {
			w := min(p.LostS/whole, 1) * (boxWidth - 2*boxPad)
			if w < 0.5 {
				continue
			}
			w = min(w, float64(x+boxWidth-boxPad)-at)
			b.Parts = append(b.Parts, planPart{pct(at), pct(w), class(p.Cause), report.InfoOf(p.Cause).Title + " " + prose.Seconds(p.LostS)})
			at += w
		}
	}
	return b
}

// nodeTitle returns the name of an operator, with the engine if it is not Spark's own.
func nodeTitle(n *report.PlanNode) string {
	s := prose.Clean(n.Operator, 40)
	if n.Engine != schema.SparkEngine {
		s += " (" + string(n.Engine) + ")"
	}
	if n.JoinType.V != "" {
		s += ", " + prose.Clean(n.JoinType.V, 16)
	}
	return s
}

func nodeDetail(n *report.PlanNode) string {
	switch {
	case n.Source.V != "":
		return prose.MaybeName(n.Source)
	case n.Kind == schema.JoinNode && n.RightKeys.V != "":
		return prose.MaybeName(n.Keys) + " = " + prose.MaybeName(n.RightKeys)
	case n.Keys.V != "":
		return "by " + prose.MaybeName(n.Keys)
	case n.Kind == schema.ShuffleReadNode:
		switch {
		case n.Split && n.Coalesced:
			return "coalesced, skewed ones split"
		case n.Split:
			return "skewed partitions split"
		case n.Coalesced:
			return "coalesced"
		}
	}
	return prose.Clean(n.Detail.V, 60)
}

// shortened returns a text that fits into a box.
func shortened(s string) string {
	if utf8.RuneCountInString(s) <= boxText {
		return s
	}
	return string([]rune(s)[:boxText-1]) + "…"
}
