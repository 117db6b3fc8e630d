"""Ideas from the concepts of the literature: the network, proposals, revisions by findings."""
