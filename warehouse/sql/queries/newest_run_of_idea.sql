-- The run that evaluated an idea last; of a reused evaluation the run that took it over.
select runs.run_id
from ideas
join runs using (run_id)
where ideas.idea_id = $idea_id
order by runs.finished_at desc, runs.run_id
limit 1
