select concept_id, degree from norms order by degree, concept_id
