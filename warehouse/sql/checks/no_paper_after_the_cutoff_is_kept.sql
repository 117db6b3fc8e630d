-- severity: warning
-- Papers that may have appeared after an idea's cutoff date should have been removed when they were retrieved.
select i.run_id, i.idea_id, p.paper_id, i.cutoff_date, p.year, p.publication_date
from ideas as i
inner join papers as p on p.idea_id = i.idea_id
where i.cutoff_date is not null
  and coalesce(coalesce(p.publication_date, make_date(p.year, 12, 31)) > i.cutoff_date, true)
