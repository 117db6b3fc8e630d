"""A committee reviews an idea on the ground of knowledge searched for it (InnoEval)."""
