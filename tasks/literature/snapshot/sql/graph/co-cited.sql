-- Papers that the papers citing a seed cite too.
with around as (
  select cited as seed, citing from edges_by_cited where list_contains($seeds, cited)
  qualify row_number() over (partition by cited order by hash(citing), citing) <= $most
),
together as (
  select around.seed, edges.cited as paper, count(*) as shared
  from around join edges using (citing)
  where not list_contains($seeds, edges.cited)
  group by all
),
degrees as (
  select cited as paper, count(*) as degree from edges_by_cited
  where cited in (select paper from together) group by cited
),
seeds as (select seed, count(*) as degree from around group by seed)
select together.paper, sum(shared)::bigint as shared,
  round(max(shared / sqrt(seeds.degree * degrees.degree)), 6) as strength
from together join seeds using (seed) join degrees using (paper)
group by together.paper
order by shared desc, strength desc, together.paper
limit $limit
