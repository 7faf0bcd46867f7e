/* bulk.h - asking many people at once. */
#ifndef PLATFORM_RELATIONSHIPS_BULK_H
#define PLATFORM_RELATIONSHIPS_BULK_H

#include "api/call.h"

/* A token that lets the caller ask these people at once. */
enum err bulk_token_issue(struct call *call, const struct list *user_ids, struct str *ret);

#endif
