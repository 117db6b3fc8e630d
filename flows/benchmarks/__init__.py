"""Benchmarks: suites of the literature over one harness; the plug-in interface is described in
`flows.benchmarks.suite`.
"""
