select question from questions where ended is null and voter = :voter order by asked_at
