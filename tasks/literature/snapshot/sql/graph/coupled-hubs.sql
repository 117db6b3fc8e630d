select cited from edges_by_cited
where cited in (select cited from edges where list_contains($seeds, citing))
group by cited having count(*) > $most order by cited
