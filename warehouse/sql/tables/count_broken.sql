select count(*) from (
{check}
)
