-- The run that evaluated an idea last; for a reused evaluation the run that reused it.
select runs.run_id
from ideas
join runs using (run_id)
where ideas.idea_id = $idea_id
order by runs.finished_at desc, runs.run_id
limit 1
