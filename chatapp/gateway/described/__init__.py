"""The addresses of programs, described for machines: what each takes and gives."""
