-- Each paper of one half takes the label most of its neighbours have; it keeps its own among equals, and of others the lowest.
create or replace temp table labels as
with neighbours as (
  select citing as paper, cited as other from edges union all select cited, citing from edges_by_cited
),
votes as (
  select neighbours.paper, labels.label, count(*) as votes
  from neighbours join labels on labels.paper = neighbours.other
  where neighbours.paper % 2 = $half
  group by all
),
chosen as (
  select votes.paper, arg_max(votes.label, (votes.votes, votes.label = own.label, -votes.label)) as label
  from votes join labels as own using (paper) group by votes.paper
)
select labels.paper, coalesce(chosen.label, labels.label) as label from labels left join chosen using (paper)
