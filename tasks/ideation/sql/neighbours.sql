-- What papers name with the concept; `score` is the cosine of who names the one and who the other.
select
  k.concept_id, k.name, k.paper_count, l.shared_count, l.first_day,
  l.shared_count / sqrt(k.paper_count * own.paper_count) as score
from links l
join known k on k.concept_id = l.neighbour_id
join known own on own.concept_id = l.concept_id
where l.concept_id = $concept_id
order by score desc, k.concept_id
limit $limit
