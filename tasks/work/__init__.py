"""The mechanism of all kinds of work: a declaration, and what its units are worked on with."""
