-- What an evaluation of the run could not look up in the end, by stage and reason.
select stage, reason, count(*) as look_ups, count(distinct idea_id) as ideas, count(*) filter (where retryable) as may_work_again
from failures
where run_id = $run_id and recorded_by <> 'read_ideas' and stage <> 'left_out'
group by stage, reason
order by look_ups desc, stage, reason
