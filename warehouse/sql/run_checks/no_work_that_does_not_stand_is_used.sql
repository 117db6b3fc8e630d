-- severity: critical
-- No work that was retracted, withdrawn or is under an expression of concern is cited, compared or taken as evidence.
with used as (
  select idea_id, paper_id, 'citations' as used_in from citations
  union
  select idea_id, paper_id, 'comparisons' from comparisons
  union
  select idea_id, paper_id, 'method_evidence' from method_evidence
)
select p.run_id, p.idea_id, p.paper_id, u.used_in, p.state, p.title
from papers as p
inner join used as u on u.idea_id = p.idea_id and u.paper_id = p.paper_id
where p.state is not null
