-- severity: critical
-- Every idea of a ranking is rated on the same dimensions, `overall` included, and no match is
-- judged on another.
with
rated as (
  select ranking_id, idea_id, list(distinct dimension order by dimension) as along from ratings group by ranking_id, idea_id
)
select distinct r.ranking_id, r.idea_id, unnest(r.along) as dimension
from rated as r
where not list_contains(r.along, 'overall')
  or exists (select 1 from rated as other where other.ranking_id = r.ranking_id and other.along <> r.along)
union all
select m.ranking_id, m.first_idea_id, m.dimension
from matches as m
where not exists (select 1 from ratings as r where r.ranking_id = m.ranking_id and r.dimension = m.dimension)
