package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// Magic is at the beginning and the end of a file.
const Magic = "PAR1"

// encryptedMagic is at the end of a file with an encrypted footer (parquet-format, Encryption.md).
const encryptedMagic = "PARE"

// MaxFooter bounds a footer: a file with a thousand columns and row groups has a few bytes for each column chunk, about 10 MB
// in all.
const MaxFooter = 64 << 20

// Type is the physical type of a column's values.
type Type int32

const (
	Boolean Type = iota
	Int32
	Int64
	Int96Type
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var typeNames = []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

func (t Type) String() string {
	if t < 0 || int(t) >= len(typeNames) {
		return fmt.Sprint("type ", int32(t))
	}
	return typeNames[t]
}

// Repetition determines whether a field may be absent, or occur several times.
type Repetition int32

const (
	Required Repetition = iota
	Optional
	Repeated
)

// Encoding is the encoding of the values of a page.
type Encoding int32

const (
	Plain                Encoding = 0
	PlainDictionary      Encoding = 2 // of old writers
	RLE                  Encoding = 3
	DeltaBinaryPacked    Encoding = 5
	DeltaLengthByteArray Encoding = 6
	DeltaByteArray       Encoding = 7
	RLEDictionary        Encoding = 8
	ByteStreamSplit      Encoding = 9
)

// PageType is the kind of content of a page.
type PageType int32

const (
	DataPage       PageType = 0
	DictionaryPage PageType = 2
	DataPageV2     PageType = 3
)

// Fields of Thrift that are pointers, Null or slices may be absent. Elements of lists are pointers, so that a list costs no
// more than its bytes before they are read.

// Metadata is the description of a file in its footer.
type Metadata struct {
	Version      int32            `thrift:"1,required"`
	Schema       []*SchemaElement `thrift:"2,required"` // the fields in depth-first order, the root first
	Rows         int64            `thrift:"3,required"`
	RowGroups    []*RowGroup      `thrift:"4,required"`
	CreatedBy    string           `thrift:"6,optional"`
	ColumnOrders []*ColumnOrder   `thrift:"7,optional"`
}

// SchemaElement is a field: a column if it has a type, else a structure of the elements that follow.
type SchemaElement struct {
	Type        thrift.Null[Type]       `thrift:"1,optional"`
	Length      int32                   `thrift:"2,optional"` // of FIXED_LEN_BYTE_ARRAY
	Repetition  thrift.Null[Repetition] `thrift:"3,optional"`
	Name        string                  `thrift:"4,required"`
	Children    int32                   `thrift:"5,optional"`
	Converted   thrift.Null[int32]      `thrift:"6,optional"` // the logical types of old writers
	Scale       int32                   `thrift:"7,optional"`
	Precision   int32                   `thrift:"8,optional"`
	LogicalType *LogicalType            `thrift:"10,optional"`
}

type nothing struct{}

// LogicalType is what a column's values represent: exactly one of the fields is present.
type LogicalType struct {
	String    *nothing       `thrift:"1,optional"`
	Map       *nothing       `thrift:"2,optional"`
	List      *nothing       `thrift:"3,optional"`
	Decimal   *decimalType   `thrift:"5,optional"`
	Date      *nothing       `thrift:"6,optional"`
	Time      *timestampType `thrift:"7,optional"`
	Timestamp *timestampType `thrift:"8,optional"`
	Integer   *integerType   `thrift:"10,optional"`
	UUID      *nothing       `thrift:"14,optional"`
	Float16   *nothing       `thrift:"15,optional"`
}

type decimalType struct {
	Scale     int32 `thrift:"1,required"`
	Precision int32 `thrift:"2,required"`
}

type timestampType struct {
	UTC  bool     `thrift:"1,required"`
	Unit timeUnit `thrift:"2,required"`
}

type timeUnit struct {
	Millis *nothing `thrift:"1,optional"`
	Micros *nothing `thrift:"2,optional"`
	Nanos  *nothing `thrift:"3,optional"`
}

type integerType struct {
	Bits   int8 `thrift:"1,required"`
	Signed bool `thrift:"2,required"`
}

// UTF8 and Microseconds are the logical types of text and of times, with their equivalents for old readers.
func UTF8(name string) *SchemaElement {
	return &SchemaElement{Name: name, Type: thrift.New(ByteArray), Converted: thrift.New(convertedUTF8), LogicalType: &LogicalType{String: &nothing{}}}
}

func Microseconds(name string) *SchemaElement {
	return &SchemaElement{Name: name, Type: thrift.New(Int64), Converted: thrift.New(convertedTimestampMicros),
		LogicalType: &LogicalType{Timestamp: &timestampType{UTC: true, Unit: timeUnit{Micros: &nothing{}}}}}
}

// Primitive returns a column without a logical type.
func Primitive(name string, t Type) *SchemaElement {
	return &SchemaElement{Name: name, Type: thrift.New(t)}
}

// RowGroup is some rows of the file.
type RowGroup struct {
	Columns         []*ColumnChunk     `thrift:"1,required"` // in the order of the schema
	Bytes           int64              `thrift:"2,required"` // uncompressed
	Rows            int64              `thrift:"3,required"`
	FileOffset      int64              `thrift:"5,optional"`
	CompressedBytes int64              `thrift:"6,optional"`
	Ordinal         thrift.Null[int16] `thrift:"7,optional"`
}

// ColumnChunk is a column of a row group.
type ColumnChunk struct {
	FilePath   string          `thrift:"1,optional"` // if its pages are in another file
	FileOffset int64           `thrift:"2,required"`
	Metadata   *ColumnMetadata `thrift:"3,optional"`
	Encryption *nothing        `thrift:"8,optional"` // present if its pages are encrypted
}

// ColumnMetadata is the description of a column of a row group in a footer.
type ColumnMetadata struct {
	Type             Type               `thrift:"1,required"`
	Encodings        []Encoding         `thrift:"2,required"`
	Path             []string           `thrift:"3,required"`
	Codec            Codec              `thrift:"4,required"`
	Values           int64              `thrift:"5,required"` // including NULLs
	Bytes            int64              `thrift:"6,required"` // uncompressed, with the pages' headers
	CompressedBytes  int64              `thrift:"7,required"`
	DataOffset       int64              `thrift:"9,required"`
	DictionaryOffset thrift.Null[int64] `thrift:"11,optional"`
	Statistics       *Statistics        `thrift:"12,optional"`
	Pages            []*PageCount       `thrift:"13,optional"`
}

// Statistics are bounds of a column chunk's values, encoded as PLAIN without lengths; nil if there are none.
type Statistics struct {
	OldMax   []byte             `thrift:"1,optional"` // for readers that compare bytes as signed
	OldMin   []byte             `thrift:"2,optional"`
	Nulls    thrift.Null[int64] `thrift:"3,optional"`
	Max      []byte             `thrift:"5,optional"`
	Min      []byte             `thrift:"6,optional"`
	MaxExact thrift.Null[bool]  `thrift:"7,optional"`
	MinExact thrift.Null[bool]  `thrift:"8,optional"`
}

// PageCount is the number of pages of a column chunk with a type and encoding.
type PageCount struct {
	Type     PageType `thrift:"1,required"`
	Encoding Encoding `thrift:"2,required"`
	Count    int32    `thrift:"3,required"`
}

// ColumnOrder is how bounds compare: in the order of the type.
type ColumnOrder struct {
	TypeOrder *nothing `thrift:"1,optional"`
}

// pageHeader is the description of a page.
type pageHeader struct {
	Type            PageType              `thrift:"1,required"`
	Bytes           int32                 `thrift:"2,required"` // uncompressed, without the header
	CompressedBytes int32                 `thrift:"3,required"`
	Data            *dataPageHeader       `thrift:"5,optional"`
	Dictionary      *dictionaryPageHeader `thrift:"7,optional"`
	DataV2          *dataPageHeaderV2     `thrift:"8,optional"`
}

type dataPageHeader struct {
	Values             int32    `thrift:"1,required"`
	Encoding           Encoding `thrift:"2,required"`
	DefinitionEncoding Encoding `thrift:"3,required"`
	RepetitionEncoding Encoding `thrift:"4,required"`
}

type dictionaryPageHeader struct {
	Values   int32    `thrift:"1,required"`
	Encoding Encoding `thrift:"2,required"`
}

type dataPageHeaderV2 struct {
	Values          int32             `thrift:"1,required"`
	Nulls           int32             `thrift:"2,required"`
	Rows            int32             `thrift:"3,required"`
	Encoding        Encoding          `thrift:"4,required"`
	DefinitionBytes int32             `thrift:"5,required"`
	RepetitionBytes int32             `thrift:"6,required"`
	Compressed      thrift.Null[bool] `thrift:"7,optional"`
}

var protocol thrift.CompactProtocol

// decode reads the structure at the start of data, and returns its size in bytes.
func decode(data []byte, to any) (int, error) {
	size, err := structSize(data)
	if err != nil {
		return 0, err
	}
	return size, thrift.NewDecoder(protocol.NewReaderFromBytes(data[:size])).Decode(to)
}

// encode appends a structure.
func encode(b *bytes.Buffer, from any) error {
	return thrift.NewEncoder(protocol.NewWriter(b)).Encode(from)
}

// ReadMetadata reads the footer of a file of the given size.
func ReadMetadata(from io.ReaderAt, size int64) (*Metadata, error) {
	var tail [8]byte
	if size < int64(len(tail)) {
		return nil, fmt.Errorf("%d bytes are no Parquet file", size)
	}
	if _, err := from.ReadAt(tail[:], size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(tail[4:]) == encryptedMagic {
		return nil, errors.New("it is encrypted")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != Magic || n > MaxFooter || n > size-int64(len(tail)) {
		return nil, fmt.Errorf("it does not end in a footer of at most %d bytes; it may be cut", MaxFooter)
	}
	data := make([]byte, n)
	if _, err := from.ReadAt(data, size-int64(len(tail))-n); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	m := new(Metadata)
	if _, err := decode(data, m); err != nil {
		return nil, fmt.Errorf("its footer: %w", err)
	}
	if !m.fitsInto(size) {
		return nil, errors.New("the columns of its row groups take more than the file")
	}
	return m, nil
}

// fitsInto reports whether all pages can lie in a file of the given size; otherwise some would be read repeatedly.
func (m *Metadata) fitsInto(size int64) bool {
	for _, g := range m.RowGroups {
		for _, c := range g.Columns {
			if c.Metadata != nil {
				if size -= max(c.Metadata.CompressedBytes, 0); size < 0 {
					return false
				}
			}
		}
	}
	return true
}
