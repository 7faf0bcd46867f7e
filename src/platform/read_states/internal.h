/* internal.h - declarations shared by the files of read_states/. */
#ifndef PLATFORM_READ_STATES_INTERNAL_H
#define PLATFORM_READ_STATES_INTERNAL_H

#include "api/hooks.h"
#include "platform/read_states/read_states.h"

enum read_state_type {
    READ_CHANNEL = 0,
    READ_GUILD_EVENT = 1,
    READ_NOTIFICATION_CENTER = 2,
    READ_GUILD_HOME = 3,
    READ_ONBOARDING_QUESTION = 4,
    READ_MESSAGE_REQUESTS = 5,
};

enum {
    MAX_MENTIONS =
        250, /* maximum number of mentions stored, and of unread messages counted, per channel */
    MENTIONS_DAYS = 7, /* maximum age in days of messages in the inbox */
    MAX_DELETED_READ_STATES =
        1000, /* maximum number of read states that are deleted when a member leaves */
};

struct read_state {
    snowflake id; /* id of a channel, guild or account, depending on the kind */
    int64_t kind;
    snowflake guild_id; /* guild of the channel; 0 for a private channel */
    snowflake last_id;
    int64_t mentions;
    struct opt_int pins_at, flags, last_viewed;
};

/* --- rows.c --------------------------------------------------------------------------- */

enum err find_read_state(struct tx *tx, snowflake user_id, int64_t kind, snowflake id,
                         struct read_state *ret, bool *ret_found);
/* Saves a read state. If pins_at, flags or last_viewed is ABSENT, its stored value does not
 * change. */
enum err read_state_save(struct tx *tx, snowflake user_id, const struct read_state *s);
enum err read_state_delete(struct tx *tx, snowflake user_id, int64_t kind, snowflake id);
/* Increments the version number of an account's read states. *ret is the new version. */
enum err read_state_increment_version(struct tx *tx, snowflake user_id, int64_t *ret);
enum err read_state_read_version(struct tx *tx, snowflake user_id, int64_t *ret);
/* Reads all read states of an account (struct read_state). */
enum err read_states_list_of_account(struct tx *tx, snowflake user_id, struct list *ret);

/* --- message_effects.c: effects of new messages --------------------------------------- */

enum err read_states_on_message_create(struct call *call, const struct message_creation *made);
enum err read_states_on_member_leave(struct call *call, const struct member_leaving_guild *leave);

/* --- acks.c --------------------------------------------------------------------------- */

enum err ack_message(struct call *call);
enum err ack_pins(struct call *call);
enum err ack_guild(struct call *call);
enum err ack_guild_feature(struct call *call);
enum err ack_user_feature(struct call *call);
enum err ack_bulk(struct call *call);
enum err delete_read_state(struct call *call);

extern const struct type ack_body, ack_bulk_body, ack_reply, read_state_deletion_body;

/* --- inbox.c -------------------------------------------------------------------------- */

enum err list_mentions(struct call *call);
enum err hide_mention(struct call *call);
extern const struct schema mentions_query_schema;

#endif
