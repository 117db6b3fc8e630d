-- Ideas that reviewers disagree about most
select idea_id, dimension, count(score_0_to_10) as scored, count(*) - count(score_0_to_10) as unscored, stddev_pop(score_0_to_10) as spread
from persona_reviews
group by idea_id, dimension
having count(score_0_to_10) >= 2
order by spread desc
limit 50
