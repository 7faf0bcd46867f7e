/* internal.h - declarations shared by the files of relationships/. */
#ifndef PLATFORM_RELATIONSHIPS_INTERNAL_H
#define PLATFORM_RELATIONSHIPS_INTERNAL_H

#include "platform/accounts/settings/settings.h"
#include "platform/relationships/relationship_pairs.h"
#include "platform/relationships/bulk_requests.h"
#include "platform/relationships/friends.h"
#include "platform/relationships/relationships.h"
#include "platform/relationships/suggestions.h"

enum {
    MOST_BLOCKED = 5000,
    MOST_IGNORED = 5000, /* maximum number of ignored users, without friends and blocked users */
    MOST_PENDING = 1000, /* pending requests per direction */
    MOST_GAME_RELATIONSHIPS = 10000,
    NOTE_LENGTH = 120,
    NICKNAME_LENGTH = 32,
    SMALL_GUILD_MEMBERS =
        200, /* two members of a guild with at most this many members count as acquainted */
};

/* --- rules.c: pure functions ---------------------------------------------------------- */

enum relationship_operation {
    OPERATION_ASK,    /* sends a friend request, or accepts the request of the other user */
    OPERATION_ACCEPT, /* fails if the other user has not sent a friend request */
    OPERATION_BLOCK,
    OPERATION_END, /* unfriends, declines, cancels or unblocks */
    OPERATION_IGNORE,
    OPERATION_UNIGNORE,
    OPERATIONS,
};

/* Computes the new rows of both users and the events to emit. Returns an error if the operation is
 * not allowed. Reads only the types and ignored flags of `before`. */
enum err relationship_compute_change(enum relationship_operation op,
                                     const struct relationship_pair *before,
                                     struct relationship_pair_change *ret);
bool relationship_type_pair_is_valid(int64_t mine, int64_t theirs);
bool relationship_change_has_no_effect(const struct relationship_pair *before,
                                       const struct relationship_pair_change *c);

/* How two users who are not friends may know each other; decides whether a friend request is
 * accepted. */
struct user_acquaintance {
    bool mutual_friend, mutual_guild, small_guild;
    bool suggested; /* whether the server suggested one user to the other as a friend */
};
bool users_have_no_acquaintance(const struct user_acquaintance *a);
/* Returns whether an account with the bits `sources` (enum friend_request_source_bits) accepts a
 * friend request from an acquaintance. vouched is true if the server suggested the user. */
bool friend_sources_allow_request(int64_t sources, const struct user_acquaintance *a, bool vouched);

/* Counts of friend requests that an account sent within the last 24 hours. */
struct friend_request_statistics {
    int64_t flags; /* flags of the account */
    int64_t age_us;
    int64_t sent, accepted;
};
bool friend_request_is_spam(const struct friend_request_statistics *r, bool has_no_common_contact);

/* Replaces line breaks by single spaces and trims the text. p is NULL if nothing is left. */
struct str collapse_line_breaks_of_note(struct arena *arena, struct str note);

/* A username with an optional discriminator. */
struct user_tag {
    struct str name;
    int64_t discriminator; /* 0 without a discriminator */
};
/* Parses a username and the JSON of a discriminator (raw.p is NULL if there is none). Returns false
 * if one of them is invalid. */
bool user_tag_parse(struct str username, struct str raw, struct user_tag *ret);

/* --- rows.c: the SQL ------------------------------------------------------------------ */

enum err user_find_by_tag(struct tx *tx, const struct user_tag *tag, struct user *ret);
enum err read_acquaintance_of_users(struct tx *tx, snowflake a, snowflake b,
                                    struct user_acquaintance *ret);

enum err count_relationships_of_type(struct tx *tx, snowflake user_id, int64_t type, int64_t *ret);

/* Lists the users whose friend requests to the account are pending. If spam or ignored is true,
 * only requests with this property. */
enum err list_incoming_friend_requests(struct tx *tx, snowflake user_id, bool spam, bool ignored,
                                       struct list *ret);
/* Returns the sender of the oldest spam request to the account, or 0. */
enum err find_oldest_spam_friend_request(struct tx *tx, snowflake user_id, snowflake *ret);

enum err friend_request_statistics_read(struct tx *tx, const struct user *user,
                                        struct friend_request_statistics *ret);
enum err friend_request_record_sent(struct tx *tx, snowflake user_id, snowflake target_id);
enum err friend_request_record_accepted(struct tx *tx, snowflake user_id, snowflake target_id);

/* Reads whether the account has authorized this application. */
enum err account_has_authorized_application(struct tx *tx, snowflake user_id,
                                            snowflake application_id, bool *ret);
enum err count_game_relationships(struct tx *tx, snowflake user_id, snowflake application_id,
                                  int64_t *ret);

/* --- schema.c ------------------------------------------------------------------------- */

struct friend_request_body {
    struct str username, discriminator; /* the discriminator is JSON */
    struct opt_str note;
};
struct relationship_body {
    int64_t type; /* type of the request body; -1: send or accept a friend request */
    bool from_friend_suggestion, confirm_stranger_request;
    struct opt_str note;
};
struct nickname_body {
    struct opt_str nickname;
};

enum friend_request_removal_filter { REMOVE_SPAM = 1, REMOVE_IGNORED = 2 };
struct friend_request_removal_query {
    int64_t relationship_type;
    bool only_spam;
    struct list filters; /* int64_t */
};
struct friend_request_removal_body {
    struct list filters;
};

struct bulk_friend_request_body {
    struct list user_ids; /* snowflakes */
    struct str token;
};
struct bulk_friend_request_reply {
    struct list failed_requests, successful_requests; /* snowflakes */
};

struct game_friend_request_body {
    struct str username;
};
struct game_relationship_body {
    int64_t type;
};

extern const struct schema removal_query_schema;
extern const struct type request_body, relationship_body, nickname_body, removal_body, bulk_body,
    bulk_reply;
extern const struct type game_request_body, game_body, game_accept_body;

/* --- friend_requests.c: friend requests ----------------------------------------------- */

struct friend_request_attempt {
    enum relationship_operation op; /* OPERATION_ASK or OPERATION_ACCEPT */
    const struct user *user;
    struct opt_str note;
    bool suggested;       /* whether the client states that the server suggested the user */
    bool server_verified; /* the server has verified the suggestion */
    bool confirmed;       /* whether the caller confirmed the request of an unknown user */
};
enum err friend_request_send_or_accept(struct call *call, const struct friend_request_attempt *in);

/* Applies an operation, such as blocking, that depends only on the current relationship. */
enum err relationship_apply_operation(struct call *call, enum relationship_operation op,
                                      snowflake my_id, snowflake their_id);

/* --- account_deletion.c --------------------------------------------------------------- */

struct deletion_step_limits;
/* Deletes a limited number of relationships of a deleted account. */
enum err relationships_delete_of_account(struct call *call, snowflake user_id,
                                         struct deletion_step_limits *step);

/* --- bulk_requests.c ------------------------------------------------------------------ */

enum err bulk_remove_relationships(struct call *call);
enum err bulk_add_relationships(struct call *call);

#endif
