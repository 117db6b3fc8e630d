-- severity: critical
-- A draft that is kept has a title and a declaration of machine-written text.
select d.run_id, d.draft_id
from drafts as d
left join draft_claims as c
  on c.run_id = d.run_id and c.draft_id = d.draft_id
  and c.claim_key in ('idea.title', 'declaration')
where d.word_count is not null
group by d.run_id, d.draft_id
having count(c.claim_key) <> 2
