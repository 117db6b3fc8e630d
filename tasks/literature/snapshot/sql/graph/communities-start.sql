create or replace temp table labels as
select distinct paper, paper as label from (select citing as paper from edges union all select cited from edges)
