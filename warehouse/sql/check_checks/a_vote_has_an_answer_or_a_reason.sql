-- severity: critical
-- A judge's vote is yes or no, or has a reason for its absence; never both.
select run_id, manuscript_id, problem_id, judge, repetition
from votes
where (hit is null) = (unscored_reason is null)
