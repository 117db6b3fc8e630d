-- severity: warning
-- An evaluation without a single module judged nothing.
select run_id, idea_id from ideas where not soundness_requested and not contribution_requested
