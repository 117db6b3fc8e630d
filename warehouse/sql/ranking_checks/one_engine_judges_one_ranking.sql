-- severity: critical
-- A ranking has judgements of one engine only; votes of people are separate.
select ranking_id, min(judge) as one, max(judge) as other
from matches
where not starts_with(judge, 'human:')
group by ranking_id
having count(distinct judge) > 1
