-- defect: wrong
-- Another source names the same authors in another order, or more of them.
select
  p.number, 'authors' as field, 'set' as action, to_json(p.authors)::varchar as old, to_json(o.authors)::varchar as new,
  o.source || case when len(o.authors) = len(p.authors) then ' has them in this order' else ' names more of them' end as evidence,
  case when len(o.authors) = len(p.authors) then 0.7 else 0.6 end as confidence
from others o
join papers p using (number)
where len(p.surnames) > 1 and o.surnames <> p.surnames
  and len(list_intersect(o.surnames, p.surnames)) = len(list_distinct(p.surnames))
  and len(o.authors) >= len(p.authors) and len(list_distinct(o.authors)) = len(o.authors)
