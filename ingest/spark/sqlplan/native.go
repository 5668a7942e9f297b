package sqlplan

import (
	"strings"

	"straggler/schema"
)

// engineOf determines the engine of an operator from its name, and Spark's name for it. RAPIDS, Comet and Photon prefix Spark's
// name with theirs; Gluten appends Transformer, or prefixes Columnar, like its backends Velox and CH.
func engineOf(name string) (schema.Native, string) {
	switch {
	case name == "PhotonHashJoin": // Comet's operator of that name shuffles
		return schema.PhotonEngine, "BroadcastHashJoin"
	case name == "HostColumnarToGpu":
		return schema.RapidsEngine, name
	case strings.HasPrefix(name, "ColumnarToRow"): // Spark's own
		return schema.SparkEngine, name
	}
	for _, e := range []struct {
		prefix string
		engine schema.Native
	}{{"Gpu", schema.RapidsEngine}, {"Photon", schema.PhotonEngine}, {"Comet", schema.CometEngine}, {"Velox", schema.GlutenEngine},
		{"CH", schema.GlutenEngine}, {"Gluten", schema.GlutenEngine}, {"Columnar", schema.GlutenEngine}} {
		if rest, ok := strings.CutPrefix(name, e.prefix); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
			return e.engine, nativeNames(strings.TrimSuffix(withoutTransformer(rest), "Exec"))
		}
	}
	if rest := withoutTransformer(name); rest != name && rest != "" {
		return schema.GlutenEngine, nativeNames(rest)
	}
	if strings.HasPrefix(name, "RowTo") && (strings.Contains(name, "Velox") || strings.Contains(name, "CH")) {
		return schema.GlutenEngine, "RowToColumnar"
	}
	return schema.SparkEngine, name
}

func withoutTransformer(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "Transformer"), "Exec")
}

// nativeNames maps other names of native engines to Spark's.
func nativeNames(name string) string {
	switch name {
	case "GroupingAgg", "GroupingAggWithRollup", "Agg", "RegularHashAggregate", "FlushableHashAggregate":
		return "HashAggregate"
	case "ShuffleExchangeSink", "UnionShuffleExchangeSink", "ColumnarExchange", "ColumnarShuffleExchange", "ShuffleExchange", "NativeShuffle":
		return "Exchange"
	case "BroadcastExchangeSink", "ColumnarBroadcastExchange":
		return "BroadcastExchange"
	case "HashJoin", "ShuffleHashJoin", "ShuffledSymmetricHashJoin", "ShuffledAsymmetricHashJoin", "ShuffledSizedHashJoin":
		return "ShuffledHashJoin"
	case "ProjectAst":
		return "Project"
	case "TopK":
		return "TakeOrderedAndProject"
	}
	return name
}

// nativeWrappers are operators of native engines that compute nothing: they convert the format of rows, or pass them on. Photon
// reads an exchange by a source of its own over the sink, which has the keys.
var nativeWrappers = map[string]bool{
	// Photon
	"ResultStage": true, "ShuffleMapStage": true, "UnionShuffleMapStage": true, "ShuffleExchangeSource": true, "BroadcastExchangeSource": true, "Adapter": true,
	"CoalesceBatches": true, "ShuffleCoalesce": true, "CustomShuffleReaderAdapter": true, "HostColumnarToGpu": true,
	"BringBackToHost": true, "BroadcastToCpu": true,
	"BroadcastToRow": true, "BroadcastColumnarToRow": true, // RAPIDS
	// Gluten
	"InputIterator": true, "InputAdapter": true, "ResizeBatches": true, "ToCarrierRow": true, "ColumnarToCarrierRow": true,
	// Comet
	"SinkPlaceHolder": true, "SparkToColumnar": true, "SparkRowToColumnar": true, "SparkColumnarToColumnar": true,
	"NativeColumnarToRow": true, "ColumnarToRowView": true,
}
