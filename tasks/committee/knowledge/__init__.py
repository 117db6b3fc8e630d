"""Knowledge for and against an idea, from papers, web pages and code.

Source: InnoEval, "Method", 1 and 2.
"""
