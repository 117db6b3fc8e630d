-- severity: critical
-- An attempt reports how many problems it found, or why it could not look; never both.
select run_id, manuscript_id, attempt
from attempts
where (problem_count is null) = (unscored_reason is null)
