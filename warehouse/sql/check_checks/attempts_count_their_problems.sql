-- severity: critical
-- An attempt counts the problems beside it that stand: those a person accepted and, where nobody
-- decided, those that a second look neither refuted nor left open. One that failed has none.
with counted as (
  select
    a.run_id, a.manuscript_id, a.attempt, a.problem_count,
    count(p.problem_id) filter (
      coalesce(p.decision, '') = 'accept'
      or (
        coalesce(p.decision, '') <> 'reject'
        and p.refuted is not true
        and p.open_question is not true
      )
    ) as problems
  from attempts as a
  left join problems as p using (run_id, manuscript_id, attempt)
  group by all
)
select * from counted
where coalesce(problem_count, 0) <> problems
