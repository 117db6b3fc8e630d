-- The first of the runs that share a review.
select min(run_id) as run_id, idea_id as item_id
from ideas
where evaluation_key in (select evaluation_key from ideas where run_id = $run_id)
group by idea_id
