"""Finding what was said: by its owner in all that is theirs, by administrators in all there is."""
