package sqlplan

import (
	"testing"

	"straggler/schema"
)

// Operators of native engines whose names differ from Spark's are recognised as joins, aggregates, exchanges and wrappers.
// The names are those in the engines' sources (nodeName in RAPIDS for Apache Spark, Apache Gluten and Apache DataFusion
// Comet); for Photon, whose source is not public, those in the tables with which the RAPIDS tools read Databricks' logs.
func TestNativeOperators(t *testing.T) {
	for name, want := range map[string]struct {
		engine schema.Native
		spark  string
		kind   schema.NodeKind
	}{
		"GpuShuffledHashJoin":                          {schema.RapidsEngine, "ShuffledHashJoin", schema.JoinNode},
		"GpuShuffledSymmetricHashJoin":                 {schema.RapidsEngine, "ShuffledHashJoin", schema.JoinNode},
		"GpuShuffledAsymmetricHashJoin":                {schema.RapidsEngine, "ShuffledHashJoin", schema.JoinNode},
		"GpuBroadcastHashJoin":                         {schema.RapidsEngine, "BroadcastHashJoin", schema.JoinNode},
		"GpuBroadcastNestedLoopJoin":                   {schema.RapidsEngine, "BroadcastNestedLoopJoin", schema.JoinNode},
		"GpuCartesianProduct":                          {schema.RapidsEngine, "CartesianProduct", schema.JoinNode},
		"GpuHashAggregate":                             {schema.RapidsEngine, "HashAggregate", schema.AggregateNode},
		"GpuColumnarExchange":                          {schema.RapidsEngine, "Exchange", schema.ExchangeNode},
		"GpuBroadcastExchange":                         {schema.RapidsEngine, "BroadcastExchange", schema.BroadcastNode},
		"GpuCustomShuffleReader":                       {schema.RapidsEngine, "CustomShuffleReader", schema.ShuffleReadNode},
		"GpuAQEShuffleRead":                            {schema.RapidsEngine, "AQEShuffleRead", schema.ShuffleReadNode},
		"GpuRunningWindow":                             {schema.RapidsEngine, "RunningWindow", schema.WindowNode},
		"GpuProjectAst":                                {schema.RapidsEngine, "Project", schema.ProjectNode},
		"GpuDataWritingCommand":                        {schema.RapidsEngine, "DataWritingCommand", schema.WriteNode},
		"GpuCoalesceBatches":                           {schema.RapidsEngine, "CoalesceBatches", schema.WrapperNode},
		"GpuShuffleCoalesce":                           {schema.RapidsEngine, "ShuffleCoalesce", schema.WrapperNode},
		"HostColumnarToGpu":                            {schema.RapidsEngine, "HostColumnarToGpu", schema.WrapperNode},
		"GpuBringBackToHost":                           {schema.RapidsEngine, "BringBackToHost", schema.WrapperNode},
		"GpuScan parquet":                              {schema.RapidsEngine, "Scan", schema.ScanNode},
		"PhotonShuffledHashJoin":                       {schema.PhotonEngine, "ShuffledHashJoin", schema.JoinNode},
		"PhotonBroadcastHashJoin":                      {schema.PhotonEngine, "BroadcastHashJoin", schema.JoinNode},
		"PhotonGroupingAgg":                            {schema.PhotonEngine, "HashAggregate", schema.AggregateNode},
		"PhotonAgg":                                    {schema.PhotonEngine, "HashAggregate", schema.AggregateNode},
		"PhotonShuffleExchangeSink":                    {schema.PhotonEngine, "Exchange", schema.ExchangeNode},
		"PhotonShuffleExchangeSource":                  {schema.PhotonEngine, "ShuffleExchangeSource", schema.WrapperNode},
		"PhotonShuffleMapStage":                        {schema.PhotonEngine, "ShuffleMapStage", schema.WrapperNode},
		"PhotonResultStage":                            {schema.PhotonEngine, "ResultStage", schema.WrapperNode},
		"PhotonWindow":                                 {schema.PhotonEngine, "Window", schema.WindowNode},
		"PhotonScan parquet":                           {schema.PhotonEngine, "Scan", schema.ScanNode},
		"ShuffledHashJoinExecTransformer":              {schema.GlutenEngine, "ShuffledHashJoin", schema.JoinNode},
		"BroadcastHashJoinExecTransformer":             {schema.GlutenEngine, "BroadcastHashJoin", schema.JoinNode},
		"SortMergeJoinExecTransformer":                 {schema.GlutenEngine, "SortMergeJoin", schema.JoinNode},
		"VeloxBroadcastNestedLoopJoinExecTransformer":  {schema.GlutenEngine, "BroadcastNestedLoopJoin", schema.JoinNode},
		"CHShuffledHashJoinExecTransformer":            {schema.GlutenEngine, "ShuffledHashJoin", schema.JoinNode},
		"HashAggregateTransformer":                     {schema.GlutenEngine, "HashAggregate", schema.AggregateNode},
		"RegularHashAggregateExecTransformer":          {schema.GlutenEngine, "HashAggregate", schema.AggregateNode},
		"FlushableHashAggregateExecTransformer":        {schema.GlutenEngine, "HashAggregate", schema.AggregateNode},
		"WindowExecTransformer":                        {schema.GlutenEngine, "Window", schema.WindowNode},
		"FilterExecTransformer":                        {schema.GlutenEngine, "Filter", schema.FilterNode},
		"ProjectExecTransformer":                       {schema.GlutenEngine, "Project", schema.ProjectNode},
		"SortExecTransformer":                          {schema.GlutenEngine, "Sort", schema.SortNode},
		"FileSourceScanExecTransformer parquet":        {schema.GlutenEngine, "FileSourceScan", schema.ScanNode},
		"ColumnarExchange":                             {schema.GlutenEngine, "Exchange", schema.ExchangeNode},
		"ColumnarBroadcastExchange":                    {schema.GlutenEngine, "BroadcastExchange", schema.BroadcastNode},
		"VeloxColumnarToRow":                           {schema.GlutenEngine, "ColumnarToRow", schema.WrapperNode},
		"RowToVeloxColumnar":                           {schema.GlutenEngine, "RowToColumnar", schema.WrapperNode},
		"RowToCHNativeColumnar":                        {schema.GlutenEngine, "RowToColumnar", schema.WrapperNode},
		"CHNativeColumnarToRow":                        {schema.GlutenEngine, "NativeColumnarToRow", schema.WrapperNode},
		"VeloxColumnarToCarrierRow":                    {schema.GlutenEngine, "ColumnarToCarrierRow", schema.WrapperNode},
		"ColumnarCoalesceExec":                         {schema.GlutenEngine, "Coalesce", schema.OtherNode},
		"ColumnarInputAdapter":                         {schema.GlutenEngine, "InputAdapter", schema.WrapperNode},
		"ColumnarAppendData":                           {schema.GlutenEngine, "AppendData", schema.WriteNode},
		"BatchScanExecTransformer shop.orders":         {schema.GlutenEngine, "BatchScan", schema.ScanNode},
		"CometWindowGroupLimitExec":                    {schema.CometEngine, "WindowGroupLimit", schema.WindowNode},
		"CometNativeWrite":                             {schema.CometEngine, "NativeWrite", schema.WriteNode},
		"CometParquetDataWritingCommandExec":           {schema.CometEngine, "ParquetDataWritingCommand", schema.WriteNode},
		"CometInMemoryTableScan":                       {schema.CometEngine, "InMemoryTableScan", schema.ScanNode},
		"CometColumnarToRowView":                       {schema.CometEngine, "ColumnarToRowView", schema.WrapperNode},
		"PhotonHashJoin":                               {schema.PhotonEngine, "BroadcastHashJoin", schema.JoinNode},
		"PhotonShuffleHashJoin":                        {schema.PhotonEngine, "ShuffledHashJoin", schema.JoinNode},
		"PhotonUnionShuffleExchangeSink":               {schema.PhotonEngine, "Exchange", schema.ExchangeNode},
		"PhotonUnionShuffleMapStage":                   {schema.PhotonEngine, "UnionShuffleMapStage", schema.WrapperNode},
		"PhotonTopK":                                   {schema.PhotonEngine, "TakeOrderedAndProject", schema.OtherNode},
		"GpuInMemoryTableScan":                         {schema.RapidsEngine, "InMemoryTableScan", schema.ScanNode},
		"GpuFlatMapGroupsInPandas":                     {schema.RapidsEngine, "FlatMapGroupsInPandas", schema.AggregateNode},
		"GpuBroadcastToRow":                            {schema.RapidsEngine, "BroadcastToRow", schema.WrapperNode},
		"GpuExecute InsertIntoHadoopFsRelationCommand": {schema.RapidsEngine, "InsertIntoHadoopFsRelationCommand", schema.WriteNode},
		"Execute MergeIntoCommand":                     {schema.SparkEngine, "MergeIntoCommand", schema.WriteNode},
		"MergeRows":                                    {schema.SparkEngine, "MergeRows", schema.OtherNode},
		"ReplaceData":                                  {schema.SparkEngine, "ReplaceData", schema.WriteNode},
		"Execute CreateHiveTableAsSelectCommand":       {schema.SparkEngine, "CreateHiveTableAsSelectCommand", schema.WriteNode},
		"Execute CreateViewCommand":                    {schema.SparkEngine, "CreateViewCommand", schema.OtherNode},
		"VeloxResizeBatches":                           {schema.GlutenEngine, "ResizeBatches", schema.WrapperNode},
		"InputIteratorTransformer":                     {schema.GlutenEngine, "InputIterator", schema.WrapperNode},
		"WholeStageCodegenTransformer (2)":             {schema.GlutenEngine, "WholeStageCodegen", schema.WrapperNode},
		"CometHashJoin":                                {schema.CometEngine, "ShuffledHashJoin", schema.JoinNode},
		"CometSortMergeJoin":                           {schema.CometEngine, "SortMergeJoin", schema.JoinNode},
		"CometBroadcastHashJoin":                       {schema.CometEngine, "BroadcastHashJoin", schema.JoinNode},
		"CometHashAggregate":                           {schema.CometEngine, "HashAggregate", schema.AggregateNode},
		"CometExchange":                                {schema.CometEngine, "Exchange", schema.ExchangeNode},
		"CometColumnarExchange":                        {schema.CometEngine, "Exchange", schema.ExchangeNode},
		"CometBroadcastExchange":                       {schema.CometEngine, "BroadcastExchange", schema.BroadcastNode},
		"CometWindowExec":                              {schema.CometEngine, "Window", schema.WindowNode},
		"CometNativeScan parquet":                      {schema.CometEngine, "NativeScan", schema.ScanNode},
		"CometSparkToColumnar":                         {schema.CometEngine, "SparkToColumnar", schema.WrapperNode},
		"CometNativeColumnarToRow":                     {schema.CometEngine, "NativeColumnarToRow", schema.WrapperNode},
		"CometSinkPlaceHolder":                         {schema.CometEngine, "SinkPlaceHolder", schema.WrapperNode},
		"SortMergeJoin":                                {schema.SparkEngine, "SortMergeJoin", schema.JoinNode},
		"Exchange":                                     {schema.SparkEngine, "Exchange", schema.ExchangeNode},
		"ColumnarToRow":                                {schema.SparkEngine, "ColumnarToRow", schema.WrapperNode},
		"AQEShuffleRead":                               {schema.SparkEngine, "AQEShuffleRead", schema.ShuffleReadNode},
		"Transformer":                                  {schema.SparkEngine, "Transformer", schema.OtherNode},
		"Photon":                                       {schema.SparkEngine, "Photon", schema.OtherNode},
	} {
		o := operatorOf(&Node{Name: name, Simple: name}, false)
		if o.Engine != want.engine || o.Name != want.spark || o.Kind != want.kind {
			t.Errorf("%s is %s of %s, a %s, want %s of %s, a %s", name, o.Name, o.Engine, o.Kind, want.spark, want.engine, want.kind)
		}
	}
}
