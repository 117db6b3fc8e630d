-- severity: critical
-- An attempt counts the problems beside it that nothing has refuted; one that failed has none.
select
  a.run_id, a.manuscript_id, a.attempt, a.problem_count,
  count(p.problem_id) filter (p.refuted is not true) as problems
from attempts as a
left join problems as p using (run_id, manuscript_id, attempt)
group by all
having coalesce(a.problem_count, 0) <> count(p.problem_id) filter (p.refuted is not true)
