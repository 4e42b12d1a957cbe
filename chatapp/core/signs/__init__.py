"""What stands in a text beside its words: signs that nobody sees, signs that look like others, and marks of programs."""
