package canonical

import (
	"fmt"
	"math"
	"strconv"

	"straggler/schema"
)

// maxSeen bounds the attempts whose ids are remembered, apart from those that count up, at ten to twenty bytes each.
const maxSeen = 5_000_000

// seen is the set of ids of attempts. Ids that count up, as in an export, need no memory.
type seen struct {
	low, high int64 // ids in [low, high) were seen
	others    map[schema.Key]struct{}
}

// add records an id, and returns an error if it was seen before.
func (s *seen) add(text string, key schema.Key) error {
	n, err := strconv.ParseInt(text, 10, 64)
	number := err == nil && n < math.MaxInt64 && strconv.FormatInt(n, 10) == text
	if number && s.low == s.high {
		s.low, s.high = n, n
	}
	if number && n == s.high {
		if _, ok := s.others[key]; !ok {
			s.high++
			return nil
		}
	}
	_, again := s.others[key]
	if again || number && s.low <= n && n < s.high {
		return fmt.Errorf("%.100q of attempts was there before; the first row is kept", text)
	}
	if len(s.others) < maxSeen {
		if s.others == nil {
			s.others = map[schema.Key]struct{}{}
		}
		s.others[key] = struct{}{}
	}
	return nil
}
