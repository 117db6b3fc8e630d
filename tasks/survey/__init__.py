"""A question followed through the literature: searches, then along references and citations, with
a filter of relevance at every layer (OmniScientist, section 3.2).
"""
