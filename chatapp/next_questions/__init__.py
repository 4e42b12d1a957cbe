"""The question that one writes while an answer is still being written: it is kept here, and asked when the answer is complete."""
