// Package codec takes a stream of bytes, recognises by its first bytes how it is compressed, and returns the content.
//
//  1. codec.go has the table of codecs and removes the layers of a stream, such as those of an lz4 log that was gzipped later.
//  2. Each codec has a file. gzip.go, zstd.go, bzip2.go and lz4frame.go configure a library. lz4block.go, lzf.go and
//     snappyjava.go read the framings of the Java libraries with which Spark writes event logs; xz.go and snappyframe.go read
//     containers whose libraries do not bound memory or do not distinguish a truncated stream from a corrupt one; hadoop.go
//     reads those of Hadoop's codecs, which only the file name identifies. blocks.go reads blocks for the others.
//  3. limit.go charges the output to a budget (budget.go), which bounds decompression bombs.
//  4. errors.go has the errors, with their position: the file is truncated, corrupt or over a limit.
//
// A truncated stream returns everything that can be known of it and then io.ErrUnexpectedEOF. A codec holds at most a few
// blocks in memory, whatever a header claims.
//
// Start with codec.go.
package codec
