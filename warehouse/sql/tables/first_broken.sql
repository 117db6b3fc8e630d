select * from (
{check}
) limit 5
