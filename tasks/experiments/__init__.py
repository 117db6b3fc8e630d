"""Tasks that programs are improved on: sandboxed executions, a search for better programs, and
what the measured differences allow to be said.
"""
