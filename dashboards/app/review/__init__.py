"""The parts of the review of one idea, shared by the pages that show one."""
