select offer, closed from offers where offer_id = :offer_id and voter = :voter
