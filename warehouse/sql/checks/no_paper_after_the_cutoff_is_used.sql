-- severity: critical
-- No paper that may have appeared after an idea's cutoff date is cited, compared or taken as evidence.
-- A paper known by its year alone counts as published on 31 December, an undated one as too late.
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
where i.cutoff_date is not null
  and coalesce(coalesce(p.publication_date, make_date(p.year, 12, 31)) > i.cutoff_date, true)
