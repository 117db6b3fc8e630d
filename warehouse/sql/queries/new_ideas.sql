-- Ideas of a run: all, those evaluated for it, and those no earlier run had.
select
  count(*) as ideas,
  count(*) filter (where reused_from_run_id is null) as evaluated_anew,
  count(*) filter (where idea_id not in (
    select e.idea_id
    from ideas as e
    inner join runs as r on r.run_id = e.run_id
    where r.started_at < (select started_at from runs where run_id = $run_id)
  )) as never_seen
from ideas
where run_id = $run_id
