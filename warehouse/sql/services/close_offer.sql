update offers set closed = :closed, closed_at = :closed_at where offer_id = :offer_id
