select count(*) filter (where closed_at > :minute), count(*) from offers
where voter = :voter and closed_at > :day
