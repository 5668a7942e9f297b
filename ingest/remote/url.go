package remote

import (
	"fmt"
	"slices"
	"strings"

	urls "straggler/bucket/location"
	"straggler/ingest"
)

type location = urls.Location

// schemes lists the URL schemes that Open accepts.
var schemes = []string{"s3", "gs", "azblob", "hdfs"}

// Check returns the error that Open would return about the URL itself, without a request.
func Check(url string) error {
	if strings.HasPrefix(strings.ToLower(url), "file://") {
		return nil // opened by discover
	}
	_, err := parse(url)
	return err
}

func parse(text string) (location, error) {
	l, err := urls.Parse(text)
	if !slices.Contains(schemes, l.Scheme) {
		return l, fmt.Errorf("%w: there is no reader for URLs of %s; there are %s and file, and http and https of servers",
			ingest.ErrUse, l.Scheme, strings.Join(schemes, ", "))
	}
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		return l, fmt.Errorf("%w: %s", ingest.ErrUse, reason)
	}
	return l, nil
}
