"""Commands that make ideas, rated sets, experiments and drafts."""
