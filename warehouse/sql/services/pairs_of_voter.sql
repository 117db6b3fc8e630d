select pair from offers where voter = :voter
