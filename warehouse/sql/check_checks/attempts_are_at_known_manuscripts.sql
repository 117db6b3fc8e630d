-- severity: critical
-- Every attempt is at a manuscript of the check, and every manuscript was attempted.
select coalesce(a.manuscript_id, m.manuscript_id) as manuscript_id, a.attempt
from attempts as a
full join manuscripts as m using (run_id, manuscript_id)
where a.manuscript_id is null or m.manuscript_id is null
