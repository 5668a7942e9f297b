// Package codec takes a stream of bytes, finds by its first bytes how it is compressed, and gives what was compressed.
//
//  1. codec.go has the table of codecs and peels the layers of a stream, such as an lz4 log that was gzipped later.
//  2. One file a codec: those that a library reads only name its settings; lz4block.go, lzf.go and snappyjava.go read
//     the framings of the Java libraries that Spark writes its event logs with; xz.go and snappyframe.go read
//     containers whose libraries do not bound memory or do not tell a cut stream from a corrupt one; hadoop.go those
//     of Hadoop's own codecs, which only the file's name tells.
//     gzip.go, zstd.go, bzip2.go and lz4frame.go are the ones of a library; blocks.go reads blocks for the others.
//  3. limit.go charges what comes out to a budget, which bounds a bomb (budget.go).
//  4. errors.go says where reading failed, and whether the file is cut, corrupt or over a limit.
//
// A stream that is cut gives everything that can be known of it and then io.ErrUnexpectedEOF. A codec holds at most
// some blocks in memory, whatever a header claims.
//
// Start with codec.go.
package codec
