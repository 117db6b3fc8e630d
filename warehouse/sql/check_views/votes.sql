-- The votes of check runs as a release lists them. A checker that found nothing in a paper has
-- missed its reason by every judge.
select c.engine as model, c.form as approach, v.judge, v.manuscript_id as entry_id, v.problem_id, v.hit
from lake.votes as v
inner join lake.check_runs as c on c.run_id = v.run_id
where v.run_id in ($run_ids)
union all
select c.engine, c.form, unnest(c.judges), a.manuscript_id, null, false
from lake.attempts as a
inner join lake.check_runs as c on c.run_id = a.run_id
inner join lake.manuscripts as m on m.run_id = a.run_id and m.manuscript_id = a.manuscript_id
where a.run_id in ($run_ids) and a.problem_count = 0 and m.known_reason is not null
