-- The best ideas of the newest run
select "group", rank, title, score, unscored_count
from group_rankings
where run_id = (select run_id from runs order by started_at desc limit 1)
order by "group", rank nulls last
limit 50
