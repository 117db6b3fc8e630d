-- severity: warning
-- No evaluation ends before it starts.
select run_id, idea_id, started_at, finished_at from ideas where finished_at < started_at
