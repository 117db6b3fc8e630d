-- The published runs that evaluated an idea, newest first.
select r.run_id
from runs as r
join ideas as i using (run_id)
where i.idea_id = $idea_id
order by r.started_at desc, r.run_id
