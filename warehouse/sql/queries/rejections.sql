-- Rejected entries of the idea file, in file order.
select run_id, idea_id, recorded_by, stage, subject, reason, detail, retryable
from failures
where run_id = $run_id and recorded_by = 'read_ideas'
order by position
