select document, standing from contests order by contest
