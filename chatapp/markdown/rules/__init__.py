"""Rules beside those of CommonMark: a few bare tags, foldable parts, emphasis beside scripts without blanks, directions."""
