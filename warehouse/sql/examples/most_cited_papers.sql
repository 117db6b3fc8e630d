-- Papers cited for most ideas
select p.title, any_value(p.year) as year, any_value(p.url) as url, count(distinct c.idea_id) as ideas
from citations as c
inner join papers as p on p.run_id = c.run_id and p.idea_id = c.idea_id and p.paper_id = c.paper_id
group by p.title
order by ideas desc
limit 50
