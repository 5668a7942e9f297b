// Package causes takes phases with their outliers and gives the reason for every second of excess.
package causes
