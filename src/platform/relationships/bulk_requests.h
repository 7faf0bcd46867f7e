/* bulk_requests.h - tokens for bulk friend requests. */
#ifndef PLATFORM_RELATIONSHIPS_BULK_REQUESTS_H
#define PLATFORM_RELATIONSHIPS_BULK_REQUESTS_H

#include "api/call.h"

/* Issues a token with which the caller may send friend requests to these users in one call. */
enum err bulk_friend_request_token_issue(struct call *call, const struct list *user_ids,
                                         struct str *ret);

#endif
