// Package strictyaml takes a YAML file that a person wrote and gives a struct, or says what is wrong with it and where:
// names that do not exist or stand twice, numbers out of bounds, words that are none of the allowed.
//
//  1. decode.go puts the values of a file into a struct, by the tags of its fields.
//  2. node.go reads a file into nodes, of bounded size and depth, and refuses the parts of YAML that are not read:
//     anchors and aliases, by which a small file can be a huge value, merge keys, tags, and further documents.
//
// Start with Decode.
package strictyaml
