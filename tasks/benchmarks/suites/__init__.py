"""One file per suite of benchmarks, with the helpers of each suite."""
