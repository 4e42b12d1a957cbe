"""The thoughts that are kept for programs, as staff see and clear them: as pages, and for scripts."""
