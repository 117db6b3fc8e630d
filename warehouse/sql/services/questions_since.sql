select count(*) from questions where voter = :voter and asked_at > :since
