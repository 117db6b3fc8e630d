update contests set standing = :standing where contest = :contest
