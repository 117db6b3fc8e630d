"""Tasks with programs to improve.

Sandboxed executions, a search for better programs, and conclusions from measured differences.
"""
