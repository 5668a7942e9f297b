package straggler

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// After a rename or a copy, a comment on a function or type may begin with the name of another one, or promise a result where
// there is none. Comments on tests are sentences of any form.
func TestCommentsFitTheirDeclarations(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			for name, doc := range documented(decl) {
				word, rest, _ := strings.Cut(doc.Text(), " ")
				f, isFunc := decl.(*ast.FuncDecl)
				returns := isFunc && f.Type.Results != nil
				switch at := files.Position(doc.Pos()); {
				case isFunc && strings.HasSuffix(path, "_test.go") && unicode.IsUpper(rune(name[0])):
				case word == name && strings.HasPrefix(rest, "returns ") && !returns:
					t.Errorf("%s: the comment on %s says that it returns something", at, name)
				case word != name && token.IsIdentifier(word) && (strings.EqualFold(word, name) || unicode.IsLower(rune(word[0]))):
					t.Errorf("%s: the comment on %s begins with %s", at, name, word)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// documented yields the functions and types of a declaration that have a comment.
func documented(decl ast.Decl) iter.Seq2[string, *ast.CommentGroup] {
	return func(yield func(string, *ast.CommentGroup) bool) {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				yield(d.Name.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				doc := s.Doc // of a type in a group
				if !d.Lparen.IsValid() {
					doc = d.Doc
				}
				if doc != nil && !yield(s.Name.Name, doc) {
					return
				}
			}
		}
	}
}
