select cited from edges_by_cited where list_contains($seeds, cited) group by cited having count(*) > $most order by cited
