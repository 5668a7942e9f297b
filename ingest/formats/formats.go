// Package formats is the table of the formats that straggler reads. It is the only package that imports them all.
package formats

import (
	"straggler/ingest"
	"straggler/ingest/alibaba"
	"straggler/ingest/archives"
	"straggler/ingest/canonical"
	"straggler/ingest/dask"
	"straggler/ingest/google"
	"straggler/ingest/hadoop"
	"straggler/ingest/nextflow"
	"straggler/ingest/philly"
	"straggler/ingest/ray"
	"straggler/ingest/spark"
	"straggler/ingest/tez"
	"straggler/ingest/yarn"
)

// All returns the formats in the order in which they are listed. Inputs are recognised by content, not by this order.
func All() []ingest.Format {
	return []ingest.Format{
		spark.Format(),
		hadoop.JobHistory(),
		hadoop.JobTracker(),
		hadoop.Rumen(),
		hadoop.SLS(),
		google.Format(),
		alibaba.Format(),
		tez.Format(),
		philly.Format(),
		archives.WTA(),
		archives.WfCommons(),
		archives.SWIM(),
		archives.SWF(),
		nextflow.Format(),
		ray.Format(),
		dask.Format(),
		yarn.Format(),
		canonical.Format(),
	}
}
