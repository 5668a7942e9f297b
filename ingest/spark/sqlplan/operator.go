package sqlplan

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"straggler/ingest/read"
	"straggler/schema"
)

// Operator is the result of parsing the texts of a Node.
type Operator struct {
	Kind       schema.NodeKind
	Name       string // Spark's, whatever engine runs it
	Engine     schema.Native
	Detail     string
	Keys       string
	RightKeys  string
	JoinType   string
	Build      schema.Side
	Source     string
	Path       string
	Partitions int64 // None where the text does not say
	Coalesced  bool
	Split      bool
	Codegen    int32 // None where it is not the top of generated code
	PlanID     string
	Reuses     bool
}

// cachedScan reads a cached table; what the table was made of stands below it.
const cachedScan = "InMemoryTableScan"

// MaxDetail bounds the arguments of an operator that are kept.
const MaxDetail = 1000

// operatorOf reads the texts of an operator.
func operatorOf(n *Node, keepLiterals bool) Operator {
	o := Operator{Partitions: None, Codegen: None}
	args := strings.TrimPrefix(n.Simple, n.Name)
	if args == n.Simple { // `Scan parquet` is `FileScan parquet` there
		if _, rest, found := strings.Cut(n.Simple, " "); found {
			args = rest
		}
	}
	args = strings.TrimSpace(args)
	words := o.named(n.Name)
	o.PlanID = planIDOf(args)
	o.Split = o.Split || strings.Contains(firstPart(n.Simple), "skew=true") || strings.HasPrefix(args, "(skew=true)")
	o.Kind = kindOfOperator(o.Name)
	if o.Reuses = strings.HasPrefix(o.Name, "Reused"); o.Reuses && strings.Contains(args, "BroadcastExchange") {
		o.Kind = schema.BroadcastNode
	}
	if o.Kind == schema.ScanNode {
		o.scan(n, words, keepLiterals)
	} else {
		o.arguments(args, keepLiterals)
	}
	if o.Detail == "" && o.Kind != schema.WrapperNode {
		if o.Detail = cleanText(withoutRunIDs(args), keepLiterals); !strings.ContainsFunc(o.Detail, unicode.IsLetter) {
			o.Detail = "" // nothing is left of it
		}
	}
	if len(o.Detail) > MaxDetail {
		o.Detail = strings.ToValidUTF8(o.Detail[:MaxDetail], "") + "…"
	}
	return o
}

// named reads the name of an operator, and returns its words.
func (o *Operator) named(name string) (words []string) {
	name = strings.TrimSpace(name)
	if open := strings.Index(name, " ("); open > 0 && strings.HasPrefix(name, "WholeStage") {
		if v, err := strconv.ParseInt(strings.Trim(name[open+2:], ") "), 10, 32); err == nil {
			o.Codegen = int32(v)
		}
		name = name[:open]
	}
	if open := strings.IndexByte(name, '('); open > 0 && strings.HasSuffix(name, ")") {
		o.Split = strings.Contains(name[open:], "skew=true")
		name = name[:open]
	}
	if words = strings.Fields(name); len(words) == 0 {
		words = []string{"unknown"}
	}
	o.Engine, o.Name = engineOf(words[0])
	o.Name = read.Text(generatedName(o.Name))
	if o.Name == "Execute" && len(words) > 1 { // a command
		o.Name, words = read.Text(words[1]), words[1:]
	}
	if len(words) > 1 && words[1] == "In-memory" { // Scan In-memory table NAME
		o.Name, words = cachedScan, words[2:]
	}
	return words
}

// arguments reads the arguments of an operator that is no scan, by its kind.
func (o *Operator) arguments(args string, keepLiterals bool) {
	switch o.Kind {
	case schema.JoinNode:
		o.join(args, keepLiterals)
	case schema.AggregateNode:
		at := strings.Index(args, "keys=[")
		inside, _ := brackets(args, at+len("keys="))
		if at < 0 { // a function of groups
			inside = nthList(args, 1)
		}
		o.Keys = cleanText(inside, keepLiterals)
	case schema.WindowNode: // Window [functions], [keys], [order]; WindowGroupLimit [keys], [order], …
		keys := 2
		if o.Name == "WindowGroupLimit" {
			keys = 1
		}
		o.Keys = cleanText(nthList(args, keys), keepLiterals)
	case schema.SortNode:
		o.Keys = sortKeys(cleanText(nthList(args, 1), keepLiterals))
	case schema.ExchangeNode:
		o.partitioning(args, keepLiterals)
	case schema.ShuffleReadNode:
		o.Coalesced = strings.Contains(args, "coalesced")
		o.Split = strings.Contains(args, "skew")
	}
}

// IsExchange reports whether an operator moves rows between phases.
func (o *Operator) IsExchange() bool {
	return o.Kind == schema.ExchangeNode || o.Kind == schema.BroadcastNode
}

// isSubquery reports whether an operator is the root of a subquery.
func (o *Operator) isSubquery() bool { return strings.Contains(o.Name, "Subquery") }

// kindOfOperator returns the kind of an operator, by its name.
func kindOfOperator(name string) schema.NodeKind {
	if nativeWrappers[name] {
		return schema.WrapperNode
	}
	switch name {
	case "WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan", "ShuffleQueryStage", "BroadcastQueryStage", "TableCacheQueryStage",
		"ResultQueryStage", "ColumnarToRow", "RowToColumnar":
		return schema.WrapperNode
	case "AQEShuffleRead", "CustomShuffleReader":
		return schema.ShuffleReadNode
	case "Exchange", "ReusedExchange":
		return schema.ExchangeNode
	case "BroadcastExchange":
		return schema.BroadcastNode
	case "Project":
		return schema.ProjectNode
	case "Filter":
		return schema.FilterNode
	case "Sort":
		return schema.SortNode
	case "CartesianProduct":
		return schema.JoinNode
	case "LocalTableScan", "Range", "RDDScan", "ExistingRDD":
		return schema.ScanNode
	}
	switch {
	case strings.HasSuffix(name, "Join"):
		return schema.JoinNode
	case strings.HasPrefix(name, "FlatMapCoGroups"), name == "CoGroup": // functions of two sets of groups, in Python or Scala
		return schema.JoinNode
	case strings.HasSuffix(name, "Aggregate"), strings.HasPrefix(name, "FlatMapGroups"), name == "MapGroups",
		name == "AggregateInPandas", name == "ArrowAggregatePython":
		return schema.AggregateNode
	case strings.HasPrefix(name, "Window"), strings.HasSuffix(name, "Window"), strings.HasPrefix(name, "RunningWindow"):
		return schema.WindowNode
	case name == "Scan", strings.HasSuffix(name, "Scan"):
		return schema.ScanNode
	case strings.HasPrefix(name, "Insert"), strings.HasPrefix(name, "Write"), strings.HasPrefix(name, "SaveInto"),
		strings.HasPrefix(name, "AppendData"), strings.HasPrefix(name, "Overwrite"), strings.HasPrefix(strings.TrimPrefix(name, "Atomic"), "CreateTable"),
		strings.HasPrefix(name, "CreateDataSourceTable"), strings.HasPrefix(name, "CreateHiveTable"), strings.HasPrefix(name, "CreateDeltaTable"),
		strings.HasPrefix(strings.TrimPrefix(name, "Atomic"), "ReplaceTable"), strings.HasPrefix(name, "ReplaceData"), strings.HasPrefix(name, "MergeInto"),
		strings.HasPrefix(name, "DeleteFromTable"), name == "DeleteCommand", name == "UpdateCommand",
		strings.HasSuffix(name, "DataWritingCommand"), strings.HasSuffix(name, "Write"):
		return schema.WriteNode
	}
	return schema.OtherNode
}

var joinTypes = map[string]bool{"Inner": true, "Cross": true, "LeftOuter": true, "RightOuter": true, "FullOuter": true, "LeftSemi": true,
	"LeftAnti": true, "LeftSingle": true}

// join reads `[a#1], [b#2], Inner, BuildRight, (condition)`; a nested loop has no keys.
func (o *Operator) join(args string, keepLiterals bool) {
	lists := 0
	for _, arg := range arguments(args) {
		word := firstPart(arg)
		switch {
		case strings.HasPrefix(arg, "[") && lists < 2:
			inside, _ := brackets(arg, 0)
			if lists++; lists == 1 {
				o.Keys = cleanText(inside, keepLiterals)
			} else {
				o.RightKeys = cleanText(inside, keepLiterals)
			}
		case joinTypes[word] && o.JoinType == "":
			o.JoinType = word
		case strings.HasPrefix(word, "ExistenceJoin"):
			o.JoinType = "ExistenceJoin"
		case strings.HasSuffix(word, "BuildRight"):
			o.Build = schema.RightSide
		case strings.HasSuffix(word, "BuildLeft"):
			o.Build = schema.LeftSide
		}
	}
}

// firstPart returns a text up to its first blank.
func firstPart(s string) string {
	first, _, _ := strings.Cut(s, " ")
	return first
}

// nthList returns the content of the nth of the arguments that are lists, from 1.
func nthList(args string, n int) string {
	for _, arg := range arguments(args) {
		if !strings.HasPrefix(arg, "[") {
			continue
		}
		if n--; n == 0 {
			inside, _ := brackets(arg, 0)
			return inside
		}
	}
	return ""
}

// partitioning reads `hashpartitioning(a#1, b#2, 200), ENSURE_REQUIREMENTS, [plan_id=12]`.
func (o *Operator) partitioning(args string, keepLiterals bool) {
	at := strings.Index(args, "partitioning(")
	if at < 0 {
		at = strings.Index(args, "Partitioning(")
	}
	if at < 0 {
		if strings.Contains(args, "SinglePartition") || strings.Contains(args, "gpusinglepartitioning") {
			o.Partitions, o.Detail = 1, "SinglePartition"
		}
		return
	}
	open := at + len("partitioning(") - 1
	inside, _ := brackets(args, open)
	list := arguments(inside)
	if len(list) > 0 {
		if v, err := strconv.ParseInt(list[len(list)-1], 10, 64); err == nil && v >= 0 {
			o.Partitions, list = v, list[:len(list)-1]
		}
	}
	o.Keys = sortKeys(cleanText(strings.Join(list, ", "), keepLiterals))
	kind := strings.TrimPrefix(strings.ToLower(wordBefore(args, open)), "gpu")
	o.Detail = kind + "(" + o.Keys + ")"
	for _, by := range []string{"REPARTITION_BY_COL", "REPARTITION_BY_NUM", "REBALANCE_PARTITIONS_BY_COL", "REBALANCE_PARTITIONS_BY_NONE"} {
		if strings.Contains(args, by) {
			o.Detail += ", " + by
		}
	}
}

// sortKeys returns keys without Spark's default order of NULLs.
func sortKeys(keys string) string {
	return usualNulls.Replace(keys)
}

var usualNulls = strings.NewReplacer(" ASC NULLS FIRST", "", " DESC NULLS LAST", " DESC")

// scan reads what a scan reads: `Scan parquet shop.orders`, `BatchScan shop.orders`, and the metadata of file scans.
func (o *Operator) scan(n *Node, words []string, keepLiterals bool) {
	o.Path = scanPath(n)
	rest := slices.Clone(words[1:])
	table, jdbc := "", false
	if len(rest) > 0 {
		if table, jdbc = strings.CutPrefix(rest[0], "JDBCRelation("); jdbc {
			rest[0] = "JDBCRelation"
		}
	}
	switch {
	case o.Name == "LocalTableScan" || o.Name == "Range":
	case jdbc: // of a table, or of a statement, which may hold anything
		if name, whole := strings.CutSuffix(table, ")"); whole && !strings.ContainsFunc(name, func(c rune) bool { return c < 0x80 && !isWord(byte(c)) }) {
			o.Source = name
		}
	case o.Name == "BatchScan" && len(rest) > 1 && strings.Contains(rest[1], ":/"): // files of a format
	case (o.Name == "BatchScan" || o.Name == cachedScan) && len(rest) > 0:
		o.Source = rest[0]
	case len(rest) > 1:
		o.Source = rest[1]
		if strings.Contains(rest[0], "ExistingRDD") || rest[0] == "Delta" {
			o.Source = ""
		}
	}
	if strings.HasPrefix(o.Source, "HiveTableRelation") || strings.ContainsAny(o.Source, "[(") {
		o.Source = ""
	}
	if o.Source == "" && len(rest) == 1 && strings.ContainsRune(rest[0], '.') && o.Path == "" {
		o.Source = rest[0]
	}
	o.Source = strings.TrimPrefix(strings.ReplaceAll(o.Source, "`", ""), "spark_catalog.")
	if o.Source == "" && o.Path != "" {
		o.Source = tableOf(o.Path)
	}
	var detail []string
	if len(rest) > 0 {
		detail = append(detail, cleanText(rest[0], true))
	}
	if n.Partition != "" && n.Partition != "[]" {
		detail = append(detail, "partition filters "+cleanText(n.Partition, keepLiterals))
	}
	if pushed := pushedFilters(n, keepLiterals); pushed != "" {
		detail = append(detail, "pushed filters "+pushed)
	}
	o.Detail = strings.Join(detail, ", ")
	o.Source, o.Path = read.Text(o.Source), read.Text(o.Path)
}

// pushedFilters returns the filters that a source applies itself, "" without any: Spark's own sources list them in the metadata
// of a scan or in its text, and Iceberg's as a description, `[filters=day IS NOT NULL, name = 'x', groupedBy=]`, of which the
// columns are kept.
func pushedFilters(n *Node, keepLiterals bool) string {
	list := n.Pushed
	if at := strings.Index(n.Simple, "PushedFilters: ["); list == "" && at >= 0 {
		at += len("PushedFilters: ")
		if _, end := brackets(n.Simple, at); end > 0 {
			list = n.Simple[at : end+1]
		}
	}
	if list != "" {
		if list == "[]" {
			return ""
		}
		return cleanFilters(list, keepLiterals)
	}
	_, described, _ := strings.Cut(n.Simple, " [filters=")
	described, _, found := strings.Cut(described, ", groupedBy=")
	switch {
	case !found || described == "":
		return ""
	case keepLiterals:
		return "[" + described + "]"
	}
	var on []string
	for _, m := range filteredColumn.FindAllStringSubmatch(describedLiteral.ReplaceAllString(described, "?"), -1) {
		on = append(on, m[1])
	}
	return "on " + strings.Join(distinct(on), ", ")
}

var (
	describedLiteral = regexp.MustCompile(`'(?:[^']|'')*'`)
	filteredColumn   = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.]*) (?:IS|IN|NOT IN|LIKE|STARTS|=|!=|<|>|<=|>=)(?: |$)`)
)

// tableOf returns the name of the directory that a table's files are in: without those of partitions, `day=3`, and the names that
// jobs give files, as the scans of a stream list them. Delta's log of a table is named after the table.
func tableOf(files string) string {
	files = strings.TrimRight(files, "/")
	if at := strings.LastIndex(files, "/_delta_log"); at > 0 {
		return path.Base(files[:at]) + "/_delta_log"
	}
	for {
		base, above := path.Base(files), path.Dir(files)
		if !strings.HasPrefix(base, "part-") && strings.IndexByte(base, '=') < 1 || above == files || above == "." || above == "/" {
			return base
		}
		files = above
	}
}

// scanPath returns the first path of `InMemoryFileIndex(2 paths)[s3://shop/orders, …]`, without a login.
func scanPath(n *Node) string {
	text := n.Location
	if text == "" {
		if at := strings.Index(n.Simple, "Location: "); at >= 0 {
			text = n.Simple[at+len("Location: "):]
		}
	}
	open := strings.IndexByte(text, '[')
	if open < 0 {
		return ""
	}
	inside, end := brackets(text, open)
	if end < 0 {
		inside = text[open+1:]
	}
	first := strings.TrimSpace(strings.Split(inside, ",")[0])
	first = strings.TrimSuffix(first, "...")
	scheme, rest, found := strings.Cut(first, "://")
	if !found {
		return first
	}
	if at := strings.IndexByte(rest, '@'); at >= 0 && strings.ContainsRune(rest[:at], ':') {
		rest = rest[at+1:] // user:password@host; abfss has container@account
	}
	if at := strings.IndexByte(rest, '?'); at >= 0 {
		rest = rest[:at] // a signature
	}
	return scheme + "://" + rest
}

// planIDOf returns the id by which a reused exchange refers to the original, or "" if there is none.
func planIDOf(args string) string {
	for _, mark := range []string{"[plan_id=", "[id=#"} {
		if at := strings.LastIndex(args, mark); at >= 0 {
			id, _, _ := strings.Cut(args[at+len(mark):], "]")
			return id
		}
	}
	return ""
}

// withoutRunIDs returns a text of a plan without what differs from run to run: the ids of plans, and statistics.
func withoutRunIDs(s string) string {
	for _, mark := range []string{"[plan_id=", "[id=#", "Statistics(", "[id="} {
		for {
			at := strings.Index(s, mark)
			if at < 0 {
				break
			}
			open := at + strings.IndexAny(mark, "[(")
			_, end := brackets(s, open)
			if end < 0 {
				return strings.TrimRight(s[:at], ", ")
			}
			s = strings.TrimRight(s[:at], ", ") + s[end+1:]
		}
	}
	return s
}
