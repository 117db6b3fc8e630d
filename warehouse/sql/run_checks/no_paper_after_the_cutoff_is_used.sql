-- severity: critical
-- No paper that may have appeared after an idea's cutoff date is cited, compared or taken as evidence.
-- A paper known by its year alone counts as published at the end of its venue's month, or of the year where that is
-- unknown; an undated one as too late.
with used as (
  select idea_id, paper_id, 'citations' as used_in from citations
  union
  select idea_id, paper_id, 'comparisons' from comparisons
  union
  select idea_id, paper_id, 'method_evidence' from method_evidence
)
select i.run_id, i.idea_id, u.paper_id, u.used_in, i.cutoff_date, p.year, p.publication_date
from ideas as i
inner join used as u on u.idea_id = i.idea_id
inner join papers as p on p.idea_id = i.idea_id and p.paper_id = u.paper_id
left join venue_months as v
  on v.year = p.year and v.venue = lower(trim(p.venue)) and coalesce(p.arxiv_id, '') = ''
where i.cutoff_date is not null
  and coalesce(coalesce(p.publication_date, last_day(make_date(p.year, coalesce(v.month, 12), 1))) > i.cutoff_date, true)
