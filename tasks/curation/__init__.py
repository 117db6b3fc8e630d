"""Papers with their reviews made into rated ideas: idea, verbatim sentences, statements
(ScholarEval §3.1, appendix D).
"""
