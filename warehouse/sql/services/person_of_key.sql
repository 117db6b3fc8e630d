select participant from people where key = :key
