select participant from people order by rowid
