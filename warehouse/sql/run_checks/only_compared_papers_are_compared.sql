-- severity: warning
-- Every comparison is with a paper chosen for comparison.
select x.run_id, x.idea_id, x.paper_id
from comparisons as x
where not exists (select 1 from candidates as c where c.idea_id = x.idea_id and c.paper_id = x.paper_id and c.compared)
