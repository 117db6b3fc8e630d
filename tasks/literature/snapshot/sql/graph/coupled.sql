-- Papers that cite what a seed cites; of what is cited often, some of those who do.
with listed as (select citing as seed, cited from edges where list_contains($seeds, citing)),
around as (
  select distinct cited from listed
),
others as (
  select cited, citing as paper from edges_by_cited
  where cited in (select cited from around) and not list_contains($seeds, citing)
  qualify row_number() over (partition by cited order by hash(citing), citing) <= $most
),
together as (
  select listed.seed, others.paper, count(*) as shared from listed join others using (cited) group by all
),
degrees as (
  select citing as paper, count(*) as degree from edges where citing in (select paper from together) group by citing
),
seeds as (select seed, count(*) as degree from listed group by seed)
select together.paper, sum(shared)::bigint as shared,
  round(max(shared / sqrt(seeds.degree * degrees.degree)), 6) as strength
from together join seeds using (seed) join degrees using (paper)
group by together.paper
order by shared desc, strength desc, together.paper
limit $limit
