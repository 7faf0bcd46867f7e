/* age.c - checks whether a user is old enough for age-restricted content. */
#include "platform/accounts/age.h"

#include "base/clock.h"
#include "base/timestamp.h"
#include "platform/accounts/internal.h"

enum { ADULT = 18, DATE = 10 /* DATE: length of YYYY-MM-DD */ };

bool user_is_adult(const struct user *u)
{
    char now[TIMESTAMP_TEXT_SIZE];

    if (u->date_of_birth.n < DATE)
        return false;
    timestamp_format(clock_us(), now);
    return age_in_years_on(u->date_of_birth, str_slice(now, DATE)) >= ADULT;
}
