"""Knowledge for and against an idea: searched in papers, pages and code, weighed, read and grounded
(InnoEval, "Method", 1 and 2).
"""
