package spark

import (
	"strings"
)

// maxProperties bounds the settings of one application.
const maxProperties = 1000

// maxValue bounds the value of a setting. Those that are kept are numbers, sizes and words.
const maxValue = 400

// keptPrefixes are the properties about the scheduling and resources of an application. Everything else is dropped: it explains
// no slow tasks, and may be confidential.
var keptPrefixes = []string{
	"spark.app.id", "spark.app.attempt.id", "spark.app.startTime", "spark.barrier.", "spark.blacklist.", "spark.broadcast.",
	"spark.cleaner.", "spark.cores.max", "spark.databricks.clusterUsageTags.sparkVersion", "spark.databricks.io.cache.enabled",
	"spark.decommission.", "spark.default.parallelism", "spark.deploy.", "spark.driver.cores", "spark.driver.maxResultSize",
	"spark.driver.memory", "spark.dynamicAllocation.", "spark.eventLog.compress", "spark.eventLog.enabled", "spark.eventLog.log",
	"spark.eventLog.rolling.", "spark.excludeOnFailure.", "spark.executor.cores", "spark.executor.heartbeatInterval",
	"spark.executor.instances", "spark.executor.memory", "spark.executor.pyspark.memory", "spark.executor.resource.",
	"spark.files.maxPartitionBytes", "spark.files.openCostInBytes", "spark.hadoop.mapreduce.input.fileinputformat.split.",
	"spark.io.compression.", "spark.kryo", "spark.kubernetes.memoryOverheadFactor", "spark.locality.", "spark.master",
	"spark.memory.", "spark.network.timeout", "spark.plugins", "spark.python.worker.", "spark.rapids.sql.", "spark.rdd.compress",
	"spark.reducer.", "spark.resources.", "spark.rpc.", "spark.scheduler.", "spark.serializer", "spark.shuffle.",
	"spark.speculation", "spark.sql.adaptive.", "spark.sql.autoBroadcastJoinThreshold", "spark.sql.files.", "spark.sql.join.",
	"spark.sql.broadcastTimeout", "spark.sql.cbo.", "spark.sql.exchange.reuse", "spark.sql.optimizer.", "spark.sql.statistics.",
	"spark.databricks.adaptive.", "spark.databricks.optimizer.", "spark.comet.", "spark.gluten.enabled",
	"spark.sql.inMemoryColumnarStorage.", "spark.sql.shuffle.", "spark.sql.sources.", "spark.stage.", "spark.storage.",
	"spark.streaming.", "spark.submit.deployMode", "spark.task.", "spark.unsafe.", "spark.yarn.am.", "spark.yarn.executor.memoryOverhead",
	"spark.yarn.maxAppAttempts", "spark.yarn.queue",
}

// secretMarks are what the names of secrets have in common; Spark's own list for its pages is shorter.
var secretMarks = []string{
	"secret", "passw", "pwd", "token", "credential", "access.key", "accesskey", "access_key", "account.key", "apikey", "api.key",
	"api_key", "private", "passphrase", "signature", "keystore", "truststore", "auth",
}

// secretValueMarks mark a value that may hold one whatever its name: an option of a program, an address with a login.
var secretValueMarks = []string{"secret", "passw", "token=", "credential", "://", "key="}

// KeepSetting reports whether a property goes into the settings of an application.
func KeepSetting(name, value string) bool { return keepProperty(name, []byte(value)) }

// keepProperty reports whether a property goes into the settings.
func keepProperty(name string, value []byte) bool {
	if len(value) > maxValue || len(name) > maxValue {
		return false
	}
	kept := false
	for _, prefix := range keptPrefixes {
		kept = kept || strings.HasPrefix(name, prefix)
	}
	if !kept || marked(name, secretMarks) {
		return false
	}
	if name == "spark.master" {
		return !strings.Contains(string(value), "@") // an address, and addresses of masters have no login
	}
	return !marked(string(value), secretValueMarks)
}

func marked(s string, marks []string) bool {
	s = strings.ToLower(s)
	for _, mark := range marks {
		if strings.Contains(s, mark) {
			return true
		}
	}
	return false
}
