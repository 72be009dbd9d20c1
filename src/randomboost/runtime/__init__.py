"""The foundations: compiled kernels, threads, random streams, memory, progress, files."""
