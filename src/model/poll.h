/* poll.h - polls of messages, with the number of votes per answer. */
#ifndef MODEL_POLL_H
#define MODEL_POLL_H

#include "model/reaction.h"

enum { POLL_MAX_ANSWERS = 10 };

struct poll_media {
    struct opt_str text;
    const struct reaction_emoji *emoji; /* NULL if there is no emoji */
};
struct poll_answer {
    int64_t answer_id; /* numbered from 1 */
    const struct poll_media *poll_media;
};
struct poll_answer_count {
    int64_t id, count;
    bool me_voted;
};
struct poll_results {
    bool is_finalized;
    struct list answer_counts; /* struct poll_answer_count, one per answer */
};
struct poll {
    const struct poll_media *question;
    struct list answers; /* struct poll_answer */
    int64_t expiry;      /* microseconds */
    bool allow_multiselect;
    int64_t layout_type;
    const struct poll_results *results;
};

struct poll_vote_event {
    snowflake user_id, channel_id, message_id;
    struct opt_id guild_id;
    int64_t answer_id;
};

extern const struct type type_poll, type_poll_answers;
extern const struct schema poll_vote_schema; /* payload of MESSAGE_POLL_VOTE_ADD and _REMOVE */

#endif
