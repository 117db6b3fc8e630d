"""Reviews of an idea by a committee of personas, based on searched knowledge (InnoEval)."""
