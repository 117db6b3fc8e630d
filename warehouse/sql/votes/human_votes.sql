select * from human_votes order by voted_at, vote_id
