/* age.h - checks whether a user is old enough for age-restricted content. */
#ifndef PLATFORM_ACCOUNTS_AGE_H
#define PLATFORM_ACCOUNTS_AGE_H

#include "model/user.h"

/* True if the user is 18 or older today; false if the date of birth is unknown. */
bool user_is_adult(const struct user *u);

#endif
