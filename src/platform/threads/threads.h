/* threads.h - conversations that hang on a channel, and who is in them. */
#ifndef PLATFORM_THREADS_THREADS_H
#define PLATFORM_THREADS_THREADS_H

#include "platform/messages/messages.h"

/* A thread that is to be. What is absent gets its default. */
struct thread_plan {
    snowflake id; /* 0: a new one */
    const struct channel *parent;
    int64_t type;
    struct str name;
    struct opt_int auto_archive_duration, rate_limit_per_user;
    struct opt_bool invitable;
    struct opt_list applied_tags; /* snowflakes */
    bool begun;                   /* its first message is not counted */
    snowflake owner_id;           /* an account, or a webhook */
};

/* Writes it and tells who sees it; nobody is in it yet. ERR_MAX_ACTIVE_THREADS. */
enum err thread_make(struct call *call, const struct thread_plan *plan, struct channel *ret);

/* May these tags be given to a new post of this forum? The caller has these rights there.
 * ERR_UNKNOWN_TAG_GIVEN, ERR_MISSING_PERMISSIONS, ERR_TAG_REQUIRED, ERR_NO_FREE_TAGS, form
 * errors on applied_tags. */
enum err post_check_tags(struct call *call, const struct channel *forum,
                         const struct opt_list *tags, uint64_t rights);
/* Between the draft of its first message and the answer: the post, its message, who started it.
 * draft: without channel and id. */
enum err post_make(struct call *call, struct thread_plan *plan, struct message_draft *draft,
                   struct channel *ret, struct message *ret_message);

extern const struct domain threads_domain;

#endif
