package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Node is a value in a file, with its position.
type Node struct {
	Kind         Kind
	Text         string  // of a scalar
	Items        []*Node // of a list
	Fields       []Field // of a mapping
	Line, Column int     // from 1
}

// Field is a name in a mapping and its value.
type Field struct{ Name, Value *Node }

// Kind is the kind of a node.
type Kind string

const (
	Scalar  Kind = "value"
	List    Kind = "list"
	Mapping Kind = "mapping"
)

// Errorf returns an error at the position of a node.
func (n *Node) Errorf(format string, args ...any) error {
	return &positionError{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// positionError is an error at a position of a file.
type positionError struct {
	line, column int
	what         string
}

func (p *positionError) Error() string { return fmt.Sprintf("%d:%d: %s", p.line, p.column, p.what) }

// The library parses recursively, and a stack overflow ends the process; its time grows with the square of the number of
// names in a mapping. So files are measured first.
const (
	maxBytes  = 1 << 20
	maxTokens = 1 << 15 // some ten thousand lines; at most a second
	maxFlow   = 64      // nesting of brackets and braces
	maxBlock  = 256     // column of a dash or a name, which grows with the nesting of blocks
)

// parse returns the value of a file; nil if it has none.
func parse(data []byte) (*Node, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%d bytes; %d are read", len(data), maxBytes)
	}
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > maxTokens {
		return nil, at(tokens[maxTokens]).Errorf("the file is too long; %d names, values and marks are read", maxTokens)
	}
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // Decode has a better error
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			return nil, at(syntax.GetToken()).Errorf("no YAML: %s", syntax.GetMessage())
		}
		return nil, fmt.Errorf("no YAML: %w", err)
	}
	var root *Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		n, err := convert(doc.Body)
		if err != nil {
			return nil, err
		}
		if root != nil {
			return nil, n.Errorf("a second document; one is read")
		}
		root = n
	}
	return root, nil
}

// checkTokens rejects too much nesting, and unsupported syntax.
func checkTokens(tokens token.Tokens) error {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth > maxFlow {
				return at(t).Errorf("more than %d lists and mappings inside one another", maxFlow)
			}
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if depth == 0 && t.Position.Column > maxBlock {
				return at(t).Errorf("lists and mappings start before column %d", maxBlock)
			}
		case token.AliasType, token.AnchorType, token.MergeKeyType:
			return at(t).Errorf("anchors and aliases are not read; write the value out")
		case token.TagType, token.DirectiveType:
			return at(t).Errorf("tags and directives are not read")
		}
	}
	return nil
}

// at returns a node without a value at the position of a token.
func at(t *token.Token) *Node {
	return &Node{Kind: Scalar, Line: t.Position.Line, Column: t.Position.Column}
}

// convert converts one of the library's nodes.
func convert(from ast.Node) (*Node, error) {
	n := at(from.GetToken())
	switch from := from.(type) {
	case *ast.MappingNode:
		return convertMapping(n, from.Values)
	case *ast.MappingValueNode:
		return convertMapping(n, []*ast.MappingValueNode{from})
	case *ast.SequenceNode:
		n.Kind = List
		for _, value := range from.Values {
			item, err := convert(value)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case *ast.LiteralNode:
		n.Text = from.Value.Value
	case *ast.StringNode:
		n.Text = from.Value
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		if t := from.GetToken(); t.Type != token.ImplicitNullType {
			n.Text = strings.TrimSpace(t.Value)
		}
	default:
		return nil, n.Errorf("a %s is not read", from.Type())
	}
	return n, nil
}

func convertMapping(n *Node, values []*ast.MappingValueNode) (*Node, error) {
	n.Kind = Mapping
	for i, v := range values {
		name, err := convert(v.Key)
		if err != nil {
			return nil, err
		}
		if name.Kind != Scalar {
			return nil, name.Errorf("a name is one value and not a %s", name.Kind)
		}
		if i == 0 && before(name, n) { // the library returns the position of the colon
			n.Line, n.Column = name.Line, name.Column
		}
		value, err := convert(v.Value)
		if err != nil {
			return nil, err
		}
		n.Fields = append(n.Fields, Field{name, value})
	}
	return n, nil
}

func before(a, b *Node) bool { return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column }

// number parses the text of a scalar, as an integer if whole is set.
func (n *Node) number(whole bool) (float64, error) {
	x, err := parseFloat(n.Text)
	const exact = 1 << 53 // beyond it not every integer is a float64
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) || whole && (x != math.Trunc(x) || math.Abs(x) > exact) {
		return 0, n.Errorf("%q is not a number that fits here", n.Text)
	}
	return x, nil
}
