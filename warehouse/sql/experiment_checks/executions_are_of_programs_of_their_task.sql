-- severity: critical
-- An execution belongs to a program of the same task that is neither a repetition nor refused.
select x.run_id, x.task_id, x.program_id
from executions as x
left join programs as p using (run_id, task_id, program_id)
where p.program_id is null or p.fate in ('repeated', 'refused')
