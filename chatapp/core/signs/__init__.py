"""What stands in a text beside its words: signs that nobody sees, signs that look like others, marks of programs; and texts without
what is looked past."""
