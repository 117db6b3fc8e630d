-- severity: critical
-- Judgements of different engines never mix within one ranking; votes of people stand beside them.
select ranking_id, min(judge) as one, max(judge) as other
from matches
where not starts_with(judge, 'human:')
group by ranking_id
having count(distinct judge) > 1
