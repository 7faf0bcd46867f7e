/* rules.c - transition table of relationships. For each legal pair of types and each operation, the
 * table contains the resulting pair and the event for each user. The ignored flag is independent of
 * the type and has a table of its own. */
#include "platform/relationships/internal.h"

/* --- pairs of types ------------------------------------------------------------------- */

/* The relationship types in the two rows of a pair, from the view of the acting user. */
enum relationship_pair_state {
    STATE_UNCHANGED, /* only in results of transitions: the types remain the same */
    STATE_NONE,
    STATE_FRIENDS,
    STATE_REQUEST_SENT,     /* the acting user sent a request */
    STATE_REQUEST_RECEIVED, /* the other user sent a request */
    STATE_BLOCKING,
    STATE_BLOCKED_BY,
    STATE_BLOCKING_BOTH,
    RELATIONSHIP_PAIR_STATES,
};

static const struct {
    int64_t mine, theirs;
} types_of_state[RELATIONSHIP_PAIR_STATES] = {
    [STATE_NONE] = { RELATIONSHIP_NONE, RELATIONSHIP_NONE },
    [STATE_FRIENDS] = { RELATIONSHIP_FRIEND, RELATIONSHIP_FRIEND },
    [STATE_REQUEST_SENT] = { RELATIONSHIP_OUTGOING, RELATIONSHIP_INCOMING },
    [STATE_REQUEST_RECEIVED] = { RELATIONSHIP_INCOMING, RELATIONSHIP_OUTGOING },
    [STATE_BLOCKING] = { RELATIONSHIP_BLOCKED, RELATIONSHIP_NONE },
    [STATE_BLOCKED_BY] = { RELATIONSHIP_NONE, RELATIONSHIP_BLOCKED },
    [STATE_BLOCKING_BOTH] = { RELATIONSHIP_BLOCKED, RELATIONSHIP_BLOCKED },
};

static enum relationship_pair_state find_pair_state_of_types(int64_t mine, int64_t theirs)
{
    for (int s = STATE_NONE; s < RELATIONSHIP_PAIR_STATES; s++)
        if (types_of_state[s].mine == mine && types_of_state[s].theirs == theirs)
            return (enum relationship_pair_state)s;
    return STATE_UNCHANGED;
}

bool relationship_type_pair_is_valid(int64_t mine, int64_t theirs)
{
    return find_pair_state_of_types(mine, theirs) != STATE_UNCHANGED;
}

/* --- transitions ---------------------------------------------------------------------- */

struct relationship_transition {
    enum relationship_pair_state to;
    enum relationship_event mine, theirs;
    enum err refusal;
};

/* clang-format off */
#define NO_CHANGE        { .to = STATE_UNCHANGED }
#define REFUSED(error_)  { .refusal = ERR_##error_ }

static const struct relationship_transition transitions[][RELATIONSHIP_PAIR_STATES] = {
    [OPERATION_ASK] = {
        [STATE_NONE]     = { STATE_REQUEST_SENT, SIDE_EVENT_ADD, SIDE_EVENT_ADD, OK },
        [STATE_FRIENDS]       = REFUSED(ALREADY_FRIENDS),
        [STATE_REQUEST_SENT]         = NO_CHANGE,
        [STATE_REQUEST_RECEIVED]      = { STATE_FRIENDS, SIDE_EVENT_ADD, SIDE_EVENT_ADD, OK },
        [STATE_BLOCKING]      = REFUSED(FRIEND_REQUEST_BLOCKED),
        [STATE_BLOCKED_BY]    = REFUSED(FRIEND_REQUEST_BLOCKED),
        [STATE_BLOCKING_BOTH] = REFUSED(FRIEND_REQUEST_BLOCKED),
    },
    [OPERATION_ACCEPT] = {
        [STATE_NONE]     = REFUSED(NO_INCOMING_REQUEST),
        [STATE_FRIENDS]       = REFUSED(ALREADY_FRIENDS),
        [STATE_REQUEST_SENT]         = REFUSED(NO_INCOMING_REQUEST),
        [STATE_REQUEST_RECEIVED]      = { STATE_FRIENDS, SIDE_EVENT_ADD, SIDE_EVENT_ADD, OK },
        [STATE_BLOCKING]      = REFUSED(NO_INCOMING_REQUEST),
        [STATE_BLOCKED_BY]    = REFUSED(NO_INCOMING_REQUEST),
        [STATE_BLOCKING_BOTH] = REFUSED(NO_INCOMING_REQUEST),
    },
    /* The blocked user only receives an event that the relationship has ended, so that the block is
     * not revealed. */
    [OPERATION_BLOCK] = {
        [STATE_NONE]     = { STATE_BLOCKING, SIDE_EVENT_ADD, SIDE_EVENT_NONE, OK },
        [STATE_FRIENDS]       = { STATE_BLOCKING, SIDE_EVENT_ADD, SIDE_EVENT_REMOVE, OK },
        [STATE_REQUEST_SENT]         = { STATE_BLOCKING, SIDE_EVENT_ADD, SIDE_EVENT_REMOVE, OK },
        [STATE_REQUEST_RECEIVED]      = { STATE_BLOCKING, SIDE_EVENT_ADD, SIDE_EVENT_REMOVE, OK },
        [STATE_BLOCKING]      = NO_CHANGE,
        [STATE_BLOCKED_BY]    = { STATE_BLOCKING_BOTH, SIDE_EVENT_ADD, SIDE_EVENT_NONE, OK },
        [STATE_BLOCKING_BOTH] = NO_CHANGE,
    },
    [OPERATION_END] = {
        [STATE_NONE]     = NO_CHANGE,
        [STATE_FRIENDS]       = { STATE_NONE, SIDE_EVENT_REMOVE, SIDE_EVENT_REMOVE, OK },
        [STATE_REQUEST_SENT]         = { STATE_NONE, SIDE_EVENT_REMOVE, SIDE_EVENT_REMOVE, OK },
        [STATE_REQUEST_RECEIVED]      = { STATE_NONE, SIDE_EVENT_REMOVE, SIDE_EVENT_REMOVE, OK },
        [STATE_BLOCKING]      = { STATE_NONE, SIDE_EVENT_REMOVE, SIDE_EVENT_NONE, OK },
        [STATE_BLOCKED_BY]    = NO_CHANGE,
        [STATE_BLOCKING_BOTH] = { STATE_BLOCKED_BY, SIDE_EVENT_REMOVE, SIDE_EVENT_NONE, OK },
    },
};

/* Event to the user who ignores somebody. First index: the row has a relationship type; second
 * index: the other user was ignored before. */
static const enum relationship_event ignoring[2][2] = {
    { SIDE_EVENT_ADD, SIDE_EVENT_NONE },
    { SIDE_EVENT_UPDATE, SIDE_EVENT_NONE },
};
static const enum relationship_event unignoring[2][2] = {
    { SIDE_EVENT_NONE, SIDE_EVENT_REMOVE },
    { SIDE_EVENT_NONE, SIDE_EVENT_UPDATE },
};
/* clang-format on */

/* Returns whether the other user gets a notification. A user who ignores the sender of a request
 * gets none. */
static bool change_notifies_other_user(const struct relationship_transition *t,
                                       const struct relationship_row *theirs)
{
    return t->theirs == SIDE_EVENT_ADD && (t->to == STATE_FRIENDS || !theirs->ignored);
}

enum err relationship_compute_change(enum relationship_operation op,
                                     const struct relationship_pair *before,
                                     struct relationship_pair_change *ret)
{
    const struct relationship_row *mine = &before->mine, *theirs = &before->theirs;
    struct relationship_pair_change c = {
        .mine = { .type = mine->type, .ignored = mine->ignored },
        .theirs = { .type = theirs->type, .ignored = theirs->ignored },
    };

    if (op == OPERATION_IGNORE || op == OPERATION_UNIGNORE) {
        bool ignore = op == OPERATION_IGNORE, something = mine->type != RELATIONSHIP_NONE;

        c.mine.ignored = ignore;
        c.mine.event = (ignore ? ignoring : unignoring)[something][mine->ignored];
    } else {
        const struct relationship_transition *t =
            &transitions[op][find_pair_state_of_types(mine->type, theirs->type)];

        if (t->refusal)
            return t->refusal;
        if (t->to != STATE_UNCHANGED) {
            c.mine.type = types_of_state[t->to].mine;
            c.theirs.type = types_of_state[t->to].theirs;
        }
        c.mine.event = t->mine;
        c.theirs.event = t->theirs;
        c.theirs.notify = change_notifies_other_user(t, theirs);
    }
    *ret = c;
    return OK;
}

bool relationship_change_has_no_effect(const struct relationship_pair *before,
                                       const struct relationship_pair_change *c)
{
    return before->mine.type == c->mine.type && before->mine.ignored == c->mine.ignored &&
           before->theirs.type == c->theirs.type && before->theirs.ignored == c->theirs.ignored;
}

/* --- requests: permission and spam -------------------------------------------------------- */

bool users_have_no_acquaintance(const struct user_acquaintance *a)
{
    return !a->mutual_friend && !a->small_guild && !a->suggested;
}

bool friend_sources_allow_request(int64_t sources, const struct user_acquaintance *a, bool vouched)
{
    if (sources & FRIEND_FROM_ANYBODY)
        return true;
    if (sources & FRIEND_FROM_MUTUAL_FRIENDS && (a->mutual_friend || vouched))
        return true;
    return sources & FRIEND_FROM_MUTUAL_GUILDS && a->mutual_guild;
}

/* Returns true if a friend request is spam: the sender has the spammer flag; or sent 20 requests
 * within a day, of which fewer than 10 % were accepted; or has an account younger than a day and no
 * common contacts. */
bool friend_request_is_spam(const struct friend_request_statistics *r, bool has_no_common_contact)
{
    const int64_t day_us = INT64_C(24) * 3600 * 1000000;

    if (r->flags & USER_SPAMMER)
        return true;
    if (r->sent >= 20 && r->accepted * 10 < r->sent)
        return true;
    return has_no_common_contact && r->age_us < day_us;
}

/* --- text ----------------------------------------------------------------------------- */

static bool is_line_break(char c)
{
    return c == '\n' || c == '\r';
}

struct str collapse_line_breaks_of_note(struct arena *arena, struct str note)
{
    char *out = arena_alloc(arena, note.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < note.n; i++) {
        if (!is_line_break(note.p[i]))
            out[n++] = note.p[i];
        else if (i == 0 || !is_line_break(note.p[i - 1]))
            out[n++] = ' ';
    }
    struct str s = str_trim(str_slice(out, n));
    return s.n ? s : (struct str){ 0 };
}

/* Parses a discriminator, which is a string such as "0042" or a number such as 42. Returns false if
 * it is neither. */
static bool parse_discriminator(struct str raw, int64_t *ret)
{
    struct str digits = raw;
    uint64_t v;

    if (digits.n >= 2 && digits.p[0] == '"')
        digits = str_slice(digits.p + 1, digits.n - 2);
    if (digits.n > 4 || !str_to_u64(digits, &v))
        return false;
    *ret = (int64_t)v;
    return true;
}

bool user_tag_parse(struct str username, struct str raw, struct user_tag *ret)
{
    *ret = (struct user_tag){ .name = username };
    if (raw.p && !str_is(raw, "null"))
        return parse_discriminator(raw, &ret->discriminator);
    for (size_t i = username.n; i-- > 1;)
        if (username.p[i] == '#') {
            struct str digits = str_skip_bytes(username, i + 1);

            if (digits.n && parse_discriminator(digits, &ret->discriminator))
                ret->name = str_slice(username.p, i);
            break;
        }
    return true;
}
