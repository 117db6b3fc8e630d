-- severity: critical
-- An attempt has a number of problems, or a reason for its failure; never both.
select run_id, manuscript_id, attempt
from attempts
where (problem_count is null) = (unscored_reason is null)
