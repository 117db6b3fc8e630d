-- Why papers were found and counted for nothing, by reason; `example` is the detail of one of the ideas.
select reason, count(distinct idea_id) as idea_count, arg_min(detail, (idea_id, position)) as example
from failures
where run_id = $run_id and stage = 'left_out'
group by reason
order by idea_count desc, reason
