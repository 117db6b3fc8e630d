-- Reasons for which papers were left out; `example` is the detail of one idea.
select reason, count(distinct idea_id) as idea_count, arg_min(detail, (idea_id, position)) as example
from failures
where run_id = $run_id and stage = 'left_out'
group by reason
order by idea_count desc, reason
