package remote

import (
	"fmt"
	"slices"
	"strings"

	urls "straggler/bucket/location"
	"straggler/ingest"
)

type location = urls.Location

// schemes are those that Open takes.
var schemes = []string{"s3", "gs", "azblob", "hdfs"}

func parse(text string) (location, error) {
	l, err := urls.Parse(text)
	if !slices.Contains(schemes, l.Scheme) {
		return l, fmt.Errorf("%w: there is no reader for URLs of %s; there are %s and file", ingest.ErrUse, l.Scheme, strings.Join(schemes, ", "))
	}
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		return l, fmt.Errorf("%w: %s", ingest.ErrUse, reason)
	}
	return l, nil
}
