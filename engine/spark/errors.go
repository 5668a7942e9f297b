package spark

import (
	"errors"
	"fmt"
	"strings"

	"straggler/engine"
	"straggler/engine/spark/hs2"
)

// errUnseen is returned when the cluster cannot read the store.
var errUnseen = fmt.Errorf("%w: its cluster cannot see the store", engine.ErrServer)

// sparkError wraps an error of the server or the connection with its kind.
func sparkError(err error) error {
	if err == nil {
		return nil
	}
	var refused *hs2.StatementError
	if errors.As(err, &refused) {
		return fmt.Errorf("spark: %w", err)
	}
	for _, kind := range []error{hs2.ErrUnreachable, hs2.ErrDenied, hs2.ErrOld, hs2.ErrLost, hs2.ErrFrozen} {
		if errors.Is(err, kind) {
			return fmt.Errorf("spark: %w: %w", engine.ErrServer, err)
		}
	}
	return err
}

// explainMissing explains that files of the store were not found on the cluster.
func (e *Engine) explainMissing(err error) error {
	var refused *hs2.StatementError
	if !errors.As(err, &refused) || errors.Is(err, errUnseen) {
		return err
	}
	where := e.server.storeURL
	if where == "" {
		where = e.st.Where()
	}
	for _, sign := range []string{"S3AFileSystem not found", "No FileSystem for scheme", "GoogleHadoopFileSystem not found"} {
		if strings.Contains(refused.Text, sign) {
			return fmt.Errorf("spark: %w: its Spark has no connector for %s; start the server with --packages org.apache.hadoop:hadoop-aws:VERSION for s3a (VERSION is that of its jars/hadoop-client-api), or with the connector of the store's vendor, and give it the keys as spark.hadoop.fs.… (%w)",
				errUnseen, where, refused)
		}
	}
	for _, sign := range []string{"PATH_NOT_FOUND", "FileNotFoundException", "FILE_NOT_EXIST", "NoSuchFileException", "does not exist"} {
		if strings.Contains(refused.Text, sign) && strings.Contains(refused.Text, "/tables/") {
			return fmt.Errorf("spark: %w: its machines have no %s; put the store on a file system that all of them mount, and where they have it under another path, add ?store=PATH to the address of the server (%w)",
				errUnseen, where, refused)
		}
	}
	for _, sign := range []string{"AccessControlException", "Permission denied"} {
		if strings.Contains(refused.Text, sign) && strings.Contains(refused.Text, "/tables/") {
			return fmt.Errorf("spark: %w: the user that Spark runs as may not read %s (%w)", errUnseen, where, refused)
		}
	}
	return err
}
