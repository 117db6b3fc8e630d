select token from tokens order by rowid
