-- Papers about which another source should be asked: those without a sure remedy first.
select number
from found
group by number
order by min(case when action = 'none' then 0 else confidence end), number
limit $most
