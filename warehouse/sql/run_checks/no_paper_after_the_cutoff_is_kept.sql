-- severity: warning
-- Papers that may have appeared after an idea's cutoff date should have been removed when they were retrieved.
select i.run_id, i.idea_id, p.paper_id, i.cutoff_date, p.year, p.publication_date
from ideas as i
inner join papers as p on p.idea_id = i.idea_id
left join venue_months as v
  on v.year = p.year and v.venue = lower(trim(p.venue)) and coalesce(p.arxiv_id, '') = ''
where i.cutoff_date is not null
  and coalesce(coalesce(p.publication_date, last_day(make_date(p.year, coalesce(v.month, 12), 1))) > i.cutoff_date, true)
