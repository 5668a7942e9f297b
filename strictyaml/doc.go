// Package strictyaml takes a YAML file written by a person and returns a struct, or an error that says what is wrong and
// where: unknown or repeated names, numbers out of bounds, values that are not allowed.
//
//  1. decode.go decodes the values of a file into a struct, by the tags of its fields.
//  2. node.go reads a file into nodes of bounded size and depth, and rejects unsupported parts of YAML: anchors and aliases,
//     with which a small file can be a huge value, merge keys, tags, and further documents.
//
// Start with Decode.
package strictyaml
