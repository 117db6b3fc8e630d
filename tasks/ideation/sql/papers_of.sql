select number
from mentions
where concept_id in (select unnest($concept_ids))
group by number, last_day
having count(*) = len($concept_ids)
order by last_day >= 99990000, last_day desc, number
limit $limit
