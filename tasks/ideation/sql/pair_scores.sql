-- What ways of predicting links say of each pair of the registered table `pairs`, in its order.
with through as (
  select
    p.place, count(*) as common, sum(1 / ln(greatest(z.degree, 2))) as adamic_adar,
    sum(1 / z.degree) as resource_allocation, sum(a.lift * b.lift) as dot
  from pairs p
  join links a on a.concept_id = p.first
  join links b on b.concept_id = p.second and b.neighbour_id = a.neighbour_id
  join norms z on z.concept_id = a.neighbour_id
  group by p.place
)
select
  p.place,
  x.degree * y.degree as preferential_attachment,
  coalesce(t.common, 0) as common_neighbours,
  coalesce(t.adamic_adar, 0) as adamic_adar,
  coalesce(t.resource_allocation, 0) as resource_allocation,
  coalesce(t.common / (x.degree + y.degree - t.common), 0) as jaccard,
  coalesce(t.dot / nullif(x.norm * y.norm, 0), 0) as alike_neighbours,
  k.recent_share * l.recent_share as recent_share,
  alike_neighbours * k.recent_share * l.recent_share as assay
from pairs p
left join through t using (place)
join norms x on x.concept_id = p.first
join norms y on y.concept_id = p.second
join known k on k.concept_id = p.first
join known l on l.concept_id = p.second
order by p.place
