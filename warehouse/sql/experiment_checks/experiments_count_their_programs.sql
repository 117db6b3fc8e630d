-- severity: critical
-- Counts of candidates, proposed, executed and failed, are those of the experiment's rows.
select e.run_id, e.task_id
from experiments as e
left join programs as p on p.run_id = e.run_id and p.task_id = e.task_id and p.role = 'candidate'
group by e.run_id, e.task_id, e.proposed_count, e.tried_count, e.failed_count
having e.proposed_count <> count(p.program_id)
  or e.tried_count <> count(p.program_id) filter (
    where p.fate not in ('repeated', 'refused')
  )
  or e.failed_count <> count(p.program_id) filter (where p.fate = 'failed')
