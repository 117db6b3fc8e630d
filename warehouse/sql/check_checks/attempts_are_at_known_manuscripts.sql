-- severity: critical
-- Every attempt belongs to a manuscript of the check, and every manuscript has attempts.
select coalesce(a.manuscript_id, m.manuscript_id) as manuscript_id, a.attempt
from attempts as a
full join manuscripts as m using (run_id, manuscript_id)
where a.manuscript_id is null or m.manuscript_id is null
