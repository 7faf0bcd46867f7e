/* threads.h - threads of channels and posts of forums, with their members. The SQL of threads and
 * thread members is in channels/, because permissions and messages need it; this folder has the
 * routes and events. May include messages/ and lower layers. Start with create.c, then
 * membership.c. */
#ifndef PLATFORM_THREADS_THREADS_H
#define PLATFORM_THREADS_THREADS_H

#include "platform/messages/messages.h"

/* Values of a new thread. Absent fields get their defaults. */
struct new_thread {
    snowflake id; /* 0 lets thread_create_and_emit generate an id */
    const struct channel *parent;
    int64_t type;
    struct str name;
    struct opt_int auto_archive_duration, rate_limit_per_user;
    struct opt_bool invitable;
    struct opt_list applied_tags; /* snowflakes */
    bool begun;         /* whether the first message exists; message_count does not include it */
    snowflake owner_id; /* account or webhook that creates the thread */
};

/* Inserts the thread and emits THREAD_CREATE. Does not add members. May return
 * ERR_MAX_ACTIVE_THREADS. */
enum err thread_create_and_emit(struct call *call, const struct new_thread *plan,
                                struct channel *ret);

/* Checks the tags of a new post. perms are the caller's permissions in the forum. May return
 * ERR_UNKNOWN_TAG_GIVEN, ERR_MISSING_PERMISSIONS, ERR_TAG_REQUIRED, ERR_NO_FREE_TAGS, or form
 * errors on applied_tags. */
enum err forum_post_check_tags(struct call *call, const struct channel *forum,
                               const struct opt_list *tags, uint64_t perms);
/* Creates a forum post and its first message. Sets id and channel of `draft`, the first message. */
enum err forum_post_create_and_emit(struct call *call, struct new_thread *plan,
                                    struct new_message *draft, struct channel *ret,
                                    struct message *ret_message);

/* Deletes a thread and emits the events. Checks no permissions. */
enum err thread_delete_and_emit(struct call *call, const struct channel *c);

extern const struct domain threads_domain;

#endif
