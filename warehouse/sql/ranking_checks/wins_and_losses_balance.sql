-- severity: warning
-- Wins and losses of a group are equal.
select ranking_id, "group", dimension, method, sum(wins) as wins, sum(losses) as losses
from ratings
group by ranking_id, "group", dimension, method
having abs(sum(wins) - sum(losses)) > 1e-6
