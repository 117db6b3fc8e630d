select paper, label from labels
qualify count(*) over (partition by label) >= $smallest
order by count(*) over (partition by label) desc, label, paper
