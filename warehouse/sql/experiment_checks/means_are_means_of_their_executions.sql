-- severity: critical
-- A program's mean is that of its scored executions of one stage.
select p.run_id, p.task_id, p.program_id
from programs as p
where p.mean is not null
  and not exists (
    select 1
    from executions as x
    where x.run_id = p.run_id and x.task_id = p.task_id and x.program_id = p.program_id
    group by x.stage
    having count(*) = p.run_count
      and count(x.value) = count(*)
      and abs(avg(x.value) - p.mean) <= 1e-9 * greatest(1, abs(p.mean))
  )
