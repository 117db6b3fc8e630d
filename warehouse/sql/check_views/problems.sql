-- The problems of check runs as a release lists them.
select c.engine as model, c.form as approach, p.manuscript_id as entry_id, p.problem_id, p.problem, p.location, p.explanation
from lake.problems as p
inner join lake.check_runs as c on c.run_id = p.run_id
where p.run_id in ($run_ids)
