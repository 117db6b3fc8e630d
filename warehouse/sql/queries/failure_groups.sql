-- Failures of the accepted ideas of a run by stage and reason, most frequent first; `example` is the detail of one of them.
select
  stage,
  reason,
  count(*) as failure_count,
  count(distinct idea_id) as idea_count,
  count(*) filter (where retryable) as retryable_count,
  arg_min(detail, (idea_id, position)) as example
from failures
where run_id = $run_id and recorded_by <> 'read_ideas' and stage <> 'left_out'
group by stage, reason
order by failure_count desc, stage, reason
