-- severity: critical
-- Judges vote on problems that were reported.
select v.run_id, v.manuscript_id, v.problem_id, v.judge
from votes as v
left join problems as p using (run_id, manuscript_id, problem_id)
where p.problem_id is null
