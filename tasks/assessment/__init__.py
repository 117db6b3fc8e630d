"""The last step of an evaluation: concerns weighed and challenged, and how probable it is that
reviewers of the field prefer the plan to the median plan submitted to them.
"""
