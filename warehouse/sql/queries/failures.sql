-- Failures of a run, rejected entries of the idea file first.
select run_id, idea_id, recorded_by, stage, subject, reason, detail, retryable
from failures
where run_id = $run_id
order by recorded_by <> 'read_ideas', idea_id nulls first, recorded_by, position
