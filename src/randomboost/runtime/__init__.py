"""What everything runs on: compiled kernels, threads, random streams, memory, progress, files."""
