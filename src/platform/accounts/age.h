/* age.h - is somebody old enough for what is age-restricted? */
#ifndef PLATFORM_ACCOUNTS_AGE_H
#define PLATFORM_ACCOUNTS_AGE_H

#include "model/user.h"

/* 18 or older today. Whoever did not say when they were born is not. */
bool user_is_adult(const struct user *u);

#endif
