-- Concepts named with the one and with the other, those first that both have most of their own.
select k.concept_id, k.name, k.paper_count
from links a
join links b on b.neighbour_id = a.neighbour_id
join known k on k.concept_id = a.neighbour_id
where a.concept_id = $first and b.concept_id = $second
order by a.lift * b.lift desc, k.concept_id
limit $limit
