package spark

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

// operator is what the texts of a rawNode say.
type operator struct {
	kind       schema.NodeKind
	name       string // Spark's, whatever engine runs it
	engine     schema.Native
	detail     string
	keys       string
	rightKeys  string
	joinType   string
	build      schema.Side
	source     string
	path       string
	partitions int64 // none where the text does not say
	coalesced  bool
	split      bool
	codegen    int32 // none where it is not the top of generated code
	planID     string
	reuses     bool
}

// cachedScan reads a cached table; what the table was made of stands below it.
const cachedScan = "InMemoryTableScan"

// maxDetail bounds the arguments of an operator that are kept.
const maxDetail = 1000

// operatorOf reads the texts of an operator.
func operatorOf(n *rawNode, keepLiterals bool) operator {
	o := operator{partitions: none, codegen: none}
	name := strings.TrimSpace(n.name)
	if open := strings.Index(name, " ("); open > 0 && strings.HasPrefix(name, "WholeStage") {
		if v, err := strconv.ParseInt(strings.Trim(name[open+2:], ") "), 10, 32); err == nil {
			o.codegen = int32(v)
		}
		name = name[:open]
	}
	if open := strings.IndexByte(name, '('); open > 0 && strings.HasSuffix(name, ")") {
		o.split = strings.Contains(name[open:], "skew=true")
		name = name[:open]
	}
	words := strings.Fields(name)
	if len(words) == 0 {
		words = []string{"unknown"}
	}
	o.engine, o.name = engineOf(words[0])
	o.name = read.Text(generatedName(o.name))
	args := strings.TrimPrefix(n.simple, n.name)
	if args == n.simple { // `Scan parquet` is `FileScan parquet` there
		if _, rest, found := strings.Cut(n.simple, " "); found {
			args = rest
		}
	}
	args = strings.TrimSpace(args)
	o.planID = planIDOf(args)
	o.split = o.split || strings.Contains(firstPart(n.simple), "skew=true") || strings.HasPrefix(args, "(skew=true)")
	if o.name == "Execute" && len(words) > 1 { // a command
		o.name, words = read.Text(words[1]), words[1:]
	}
	if len(words) > 1 && words[1] == "In-memory" { // Scan In-memory table NAME
		o.name, words = cachedScan, words[2:]
	}
	o.kind = kindOfOperator(o.name)
	if o.reuses = strings.HasPrefix(o.name, "Reused"); o.reuses && strings.Contains(args, "BroadcastExchange") {
		o.kind = schema.BroadcastNode
	}
	switch o.kind {
	case schema.JoinNode:
		o.join(args, keepLiterals)
	case schema.AggregateNode:
		at := strings.Index(args, "keys=[")
		inside, _ := brackets(args, at+len("keys="))
		if at < 0 { // a function of groups
			inside = nthList(args, 1)
		}
		o.keys = cleanText(inside, keepLiterals)
	case schema.WindowNode: // Window [functions], [keys], [order]; WindowGroupLimit [keys], [order], …
		o.keys = cleanText(nthList(args, map[bool]int{true: 1, false: 2}[o.name == "WindowGroupLimit"]), keepLiterals)
	case schema.SortNode:
		o.keys = sortKeys(cleanText(nthList(args, 1), keepLiterals))
	case schema.ExchangeNode:
		o.partitioning(args, keepLiterals)
	case schema.ShuffleReadNode:
		o.coalesced = strings.Contains(args, "coalesced")
		o.split = strings.Contains(args, "skew")
	case schema.ScanNode:
		o.scan(n, words, keepLiterals)
	}
	if o.detail == "" && o.kind != schema.WrapperNode {
		if o.detail = cleanText(withoutRunIDs(args), keepLiterals); !strings.ContainsFunc(o.detail, unicode.IsLetter) {
			o.detail = "" // nothing is left of it
		}
	}
	if len(o.detail) > maxDetail {
		o.detail = strings.ToValidUTF8(o.detail[:maxDetail], "") + "…"
	}
	return o
}

// isExchange tells whether an operator moves rows between phases.
func (o *operator) isExchange() bool {
	return o.kind == schema.ExchangeNode || o.kind == schema.BroadcastNode
}

// isSubquery tells whether an operator is the top of a subquery, whose value another takes.
func (o *operator) isSubquery() bool { return strings.Contains(o.name, "Subquery") }

// kindOfOperator is what an operator does, by its name.
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
	case strings.HasSuffix(name, "Aggregate"), strings.HasPrefix(name, "FlatMapGroups"), name == "MapGroups", name == "AggregateInPandas", name == "ArrowAggregatePython":
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
func (o *operator) join(args string, keepLiterals bool) {
	lists := 0
	for _, arg := range arguments(args) {
		word := firstPart(arg)
		switch {
		case strings.HasPrefix(arg, "[") && lists < 2:
			inside, _ := brackets(arg, 0)
			if lists++; lists == 1 {
				o.keys = cleanText(inside, keepLiterals)
			} else {
				o.rightKeys = cleanText(inside, keepLiterals)
			}
		case joinTypes[word] && o.joinType == "":
			o.joinType = word
		case strings.HasPrefix(word, "ExistenceJoin"):
			o.joinType = "ExistenceJoin"
		case strings.HasSuffix(word, "BuildRight"):
			o.build = schema.RightSide
		case strings.HasSuffix(word, "BuildLeft"):
			o.build = schema.LeftSide
		}
	}
}

// firstPart is a text up to its first blank.
func firstPart(s string) string {
	first, _, _ := strings.Cut(s, " ")
	return first
}

// nthList is what stands in the nth of the arguments that are lists, from 1.
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
func (o *operator) partitioning(args string, keepLiterals bool) {
	at := strings.Index(args, "partitioning(")
	if at < 0 {
		at = strings.Index(args, "Partitioning(")
	}
	if at < 0 {
		if strings.Contains(args, "SinglePartition") || strings.Contains(args, "gpusinglepartitioning") {
			o.partitions, o.detail = 1, "SinglePartition"
		}
		return
	}
	open := at + len("partitioning(") - 1
	inside, _ := brackets(args, open)
	list := arguments(inside)
	if len(list) > 0 {
		if v, err := strconv.ParseInt(list[len(list)-1], 10, 64); err == nil && v >= 0 {
			o.partitions, list = v, list[:len(list)-1]
		}
	}
	o.keys = sortKeys(cleanText(strings.Join(list, ", "), keepLiterals))
	kind := strings.TrimPrefix(strings.ToLower(wordBefore(args, open)), "gpu")
	o.detail = kind + "(" + o.keys + ")"
	for _, by := range []string{"REPARTITION_BY_COL", "REPARTITION_BY_NUM", "REBALANCE_PARTITIONS_BY_COL", "REBALANCE_PARTITIONS_BY_NONE"} {
		if strings.Contains(args, by) {
			o.detail += ", " + by
		}
	}
}

// sortKeys are keys without the order of NULLs that Spark takes where none is asked for.
func sortKeys(keys string) string {
	return usualNulls.Replace(keys)
}

var usualNulls = strings.NewReplacer(" ASC NULLS FIRST", "", " DESC NULLS LAST", " DESC")

// scan reads what a scan reads: `Scan parquet shop.orders`, `BatchScan shop.orders`, and the metadata of file scans.
func (o *operator) scan(n *rawNode, words []string, keepLiterals bool) {
	o.path = scanPath(n)
	rest := slices.Clone(words[1:])
	table, jdbc := "", false
	if len(rest) > 0 {
		if table, jdbc = strings.CutPrefix(rest[0], "JDBCRelation("); jdbc {
			rest[0] = "JDBCRelation"
		}
	}
	switch {
	case o.name == "LocalTableScan" || o.name == "Range":
	case jdbc: // of a table, or of a statement, which may hold anything
		if name, whole := strings.CutSuffix(table, ")"); whole && !strings.ContainsFunc(name, func(c rune) bool { return c < 0x80 && !isWord(byte(c)) }) {
			o.source = name
		}
	case o.name == "BatchScan" && len(rest) > 1 && strings.Contains(rest[1], ":/"): // files of a format
	case (o.name == "BatchScan" || o.name == cachedScan) && len(rest) > 0:
		o.source = rest[0]
	case len(rest) > 1:
		o.source = rest[1]
		if strings.Contains(rest[0], "ExistingRDD") || rest[0] == "Delta" {
			o.source = ""
		}
	}
	if strings.HasPrefix(o.source, "HiveTableRelation") || strings.ContainsAny(o.source, "[(") {
		o.source = ""
	}
	if o.source == "" && len(rest) == 1 && strings.ContainsRune(rest[0], '.') && o.path == "" {
		o.source = rest[0]
	}
	o.source = strings.TrimPrefix(strings.ReplaceAll(o.source, "`", ""), "spark_catalog.")
	if o.source == "" && o.path != "" {
		o.source = tableOf(o.path)
	}
	var detail []string
	if len(rest) > 0 {
		detail = append(detail, cleanText(rest[0], true))
	}
	if n.partition != "" && n.partition != "[]" {
		detail = append(detail, "partition filters "+cleanText(n.partition, keepLiterals))
	}
	if pushed := pushedFilters(n, keepLiterals); pushed != "" {
		detail = append(detail, "pushed filters "+pushed)
	}
	o.detail = strings.Join(detail, ", ")
	o.source, o.path = read.Text(o.source), read.Text(o.path)
}

// pushedFilters are the filters that a source applies itself, "" without any: Spark's own sources list them in the metadata of
// a scan or in its text, and Iceberg's as a description, `[filters=day IS NOT NULL, name = 'x', groupedBy=]`, of which the
// columns are kept.
func pushedFilters(n *rawNode, keepLiterals bool) string {
	list := n.pushed
	if at := strings.Index(n.simple, "PushedFilters: ["); list == "" && at >= 0 {
		at += len("PushedFilters: ")
		if _, end := brackets(n.simple, at); end > 0 {
			list = n.simple[at : end+1]
		}
	}
	if list != "" {
		if list == "[]" {
			return ""
		}
		return cleanFilters(list, keepLiterals)
	}
	_, described, _ := strings.Cut(n.simple, " [filters=")
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

// tableOf is the name of the folder that a table's files are in: without those of partitions, `day=3`, and the names that jobs
// give files, as the scans of a stream list them. Delta's log of a table is named after the table.
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

// scanPath is the first path of `InMemoryFileIndex(2 paths)[s3://shop/orders, …]`, without a login.
func scanPath(n *rawNode) string {
	text := n.location
	if text == "" {
		if at := strings.Index(n.simple, "Location: "); at >= 0 {
			text = n.simple[at+len("Location: "):]
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

// planIDOf is the id by which a reused exchange names the one that it reuses, "" where there is none.
func planIDOf(args string) string {
	for _, mark := range []string{"[plan_id=", "[id=#"} {
		if at := strings.LastIndex(args, mark); at >= 0 {
			id, _, _ := strings.Cut(args[at+len(mark):], "]")
			return id
		}
	}
	return ""
}

// withoutRunIDs is a text of a plan without what differs from run to run: the ids of plans, and statistics.
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
