"""One file per suite of benchmarks, and what a suite needs of its own."""
