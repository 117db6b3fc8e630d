select told.column_name, held.file
from held
join told on told.file is null or told.file = held.file
where
    told.column_name = '{column}'
    and (
        held.low_{number} < try_cast(told.min_value as {type})
        or held.high_{number} > try_cast(told.max_value as {type})
        or (held.values_{number} and not told.has_values)
        or (held.nulls_{number} and not told.has_nulls)
    )
