-- What no paper names with the concept, by how alike their neighbours are and how much of both is of the last three years.
with alike as (
  select other.concept_id, sum(own.lift * other.lift) as dot
  from links own
  join links other on other.neighbour_id = own.neighbour_id and other.concept_id <> own.concept_id
  where own.concept_id = $concept_id and own.lift > 0 and other.lift > 0
  group by other.concept_id
)
select
  k.concept_id, k.name, k.paper_count, 0 as shared_count, null as first_day,
  least(dot / (n.norm * own_norm.norm), 1) * k.recent_share * own.recent_share as score
from alike
join known k using (concept_id)
join norms n using (concept_id)
cross join (select recent_share from known where concept_id = $concept_id) own
cross join (select norm from norms where concept_id = $concept_id) own_norm
where k.concept_id not in (select neighbour_id from links where concept_id = $concept_id)
order by score desc, k.concept_id
limit $limit
