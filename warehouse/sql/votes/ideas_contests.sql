-- Groups of the ideas of a run.
select coalesce("group", 'all') as "group", run_id, idea_id as item_id
from ideas
where run_id = $run_id
order by all
