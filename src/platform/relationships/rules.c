/* rules.c - transition table of relationships. For each legal pair of types and each operation, the
 * table contains the resulting pair and the event for each side. The ignored flag is independent of
 * the type and has a table of its own. */
#include "platform/relationships/internal.h"

/* --- pairs of types ------------------------------------------------------------------- */

/* Pair of relationship types, as the acting user sees it. */
enum bond_state {
    SAME, /* as a result: the pair does not change */
    STRANGERS,
    FRIENDS,
    ASKED,    /* the acting user sent a request */
    ASKED_BY, /* the other user sent a request */
    BLOCKING,
    BLOCKED_BY,
    BLOCKING_BOTH,
    BOND_STATES,
};

static const struct {
    int64_t mine, theirs;
} types_of[BOND_STATES] = {
    [STRANGERS] = { RELATIONSHIP_NONE, RELATIONSHIP_NONE },
    [FRIENDS] = { RELATIONSHIP_FRIEND, RELATIONSHIP_FRIEND },
    [ASKED] = { RELATIONSHIP_OUTGOING, RELATIONSHIP_INCOMING },
    [ASKED_BY] = { RELATIONSHIP_INCOMING, RELATIONSHIP_OUTGOING },
    [BLOCKING] = { RELATIONSHIP_BLOCKED, RELATIONSHIP_NONE },
    [BLOCKED_BY] = { RELATIONSHIP_NONE, RELATIONSHIP_BLOCKED },
    [BLOCKING_BOTH] = { RELATIONSHIP_BLOCKED, RELATIONSHIP_BLOCKED },
};

static enum bond_state state_of(int64_t mine, int64_t theirs)
{
    for (int s = STRANGERS; s < BOND_STATES; s++)
        if (types_of[s].mine == mine && types_of[s].theirs == theirs)
            return (enum bond_state)s;
    return SAME;
}

bool bond_is_legal(int64_t mine, int64_t theirs)
{
    return state_of(mine, theirs) != SAME;
}

/* --- transitions ---------------------------------------------------------------------- */

struct transition {
    enum bond_state to;
    enum side_news mine, theirs;
    enum err refusal;
};

/* clang-format off */
#define NO_CHANGE        { .to = SAME }
#define REFUSED(error_)  { .refusal = ERR_##error_ }

static const struct transition transitions[][BOND_STATES] = {
    [OPERATION_ASK] = {
        [STRANGERS]     = { ASKED, NEWS_ADDED, NEWS_ADDED, OK },
        [FRIENDS]       = REFUSED(ALREADY_FRIENDS),
        [ASKED]         = NO_CHANGE,
        [ASKED_BY]      = { FRIENDS, NEWS_ADDED, NEWS_ADDED, OK },
        [BLOCKING]      = REFUSED(FRIEND_REQUEST_BLOCKED),
        [BLOCKED_BY]    = REFUSED(FRIEND_REQUEST_BLOCKED),
        [BLOCKING_BOTH] = REFUSED(FRIEND_REQUEST_BLOCKED),
    },
    [OPERATION_ACCEPT] = {
        [STRANGERS]     = REFUSED(NO_INCOMING_REQUEST),
        [FRIENDS]       = REFUSED(ALREADY_FRIENDS),
        [ASKED]         = REFUSED(NO_INCOMING_REQUEST),
        [ASKED_BY]      = { FRIENDS, NEWS_ADDED, NEWS_ADDED, OK },
        [BLOCKING]      = REFUSED(NO_INCOMING_REQUEST),
        [BLOCKED_BY]    = REFUSED(NO_INCOMING_REQUEST),
        [BLOCKING_BOTH] = REFUSED(NO_INCOMING_REQUEST),
    },
    /* The blocked user receives only the end of the relationship, never that it is blocked. */
    [OPERATION_BLOCK] = {
        [STRANGERS]     = { BLOCKING, NEWS_ADDED, NEWS_NONE, OK },
        [FRIENDS]       = { BLOCKING, NEWS_ADDED, NEWS_REMOVED, OK },
        [ASKED]         = { BLOCKING, NEWS_ADDED, NEWS_REMOVED, OK },
        [ASKED_BY]      = { BLOCKING, NEWS_ADDED, NEWS_REMOVED, OK },
        [BLOCKING]      = NO_CHANGE,
        [BLOCKED_BY]    = { BLOCKING_BOTH, NEWS_ADDED, NEWS_NONE, OK },
        [BLOCKING_BOTH] = NO_CHANGE,
    },
    [OPERATION_END] = {
        [STRANGERS]     = NO_CHANGE,
        [FRIENDS]       = { STRANGERS, NEWS_REMOVED, NEWS_REMOVED, OK },
        [ASKED]         = { STRANGERS, NEWS_REMOVED, NEWS_REMOVED, OK },
        [ASKED_BY]      = { STRANGERS, NEWS_REMOVED, NEWS_REMOVED, OK },
        [BLOCKING]      = { STRANGERS, NEWS_REMOVED, NEWS_NONE, OK },
        [BLOCKED_BY]    = NO_CHANGE,
        [BLOCKING_BOTH] = { BLOCKED_BY, NEWS_REMOVED, NEWS_NONE, OK },
    },
};

/* Event of the ignoring user, indexed by [has a relationship type][was ignored]. */
static const enum side_news ignoring[2][2] = {
    { NEWS_ADDED, NEWS_NONE },
    { NEWS_UPDATED, NEWS_NONE },
};
static const enum side_news unignoring[2][2] = {
    { NEWS_NONE, NEWS_REMOVED },
    { NEWS_NONE, NEWS_UPDATED },
};
/* clang-format on */

/* A request from an ignored user causes no notification. */
static bool relationship_notifies(const struct transition *t, const struct side *theirs)
{
    return t->theirs == NEWS_ADDED && (t->to == FRIENDS || !theirs->ignored);
}

enum err relationship_decide(enum operation op, const struct bond *before, struct bond_change *ret)
{
    const struct side *mine = &before->mine, *theirs = &before->theirs;
    struct bond_change c = {
        .mine = { .type = mine->type, .ignored = mine->ignored },
        .theirs = { .type = theirs->type, .ignored = theirs->ignored },
    };

    if (op == OPERATION_IGNORE || op == OPERATION_UNIGNORE) {
        bool ignore = op == OPERATION_IGNORE, something = mine->type != RELATIONSHIP_NONE;

        c.mine.ignored = ignore;
        c.mine.news = (ignore ? ignoring : unignoring)[something][mine->ignored];
    } else {
        const struct transition *t = &transitions[op][state_of(mine->type, theirs->type)];

        if (t->refusal)
            return t->refusal;
        if (t->to != SAME) {
            c.mine.type = types_of[t->to].mine;
            c.theirs.type = types_of[t->to].theirs;
        }
        c.mine.news = t->mine;
        c.theirs.news = t->theirs;
        c.theirs.notify = relationship_notifies(t, theirs);
    }
    *ret = c;
    return OK;
}

bool change_is_none(const struct bond *before, const struct bond_change *c)
{
    return before->mine.type == c->mine.type && before->mine.ignored == c->mine.ignored &&
           before->theirs.type == c->theirs.type && before->theirs.ignored == c->theirs.ignored;
}

/* --- requests: permission and spam -------------------------------------------------------- */

bool is_stranger(const struct acquaintance *a)
{
    return !a->mutual_friend && !a->small_guild && !a->suggested;
}

bool may_ask(int64_t sources, const struct acquaintance *a, bool vouched)
{
    if (sources & FROM_ANYBODY)
        return true;
    if (sources & FROM_MUTUAL_FRIENDS && (a->mutual_friend || vouched))
        return true;
    return sources & FROM_MUTUAL_GUILDS && a->mutual_guild;
}

/* Spam: 20 requests per day with less than 10 % accepted, or a new account that is unknown. */
bool is_spam(const struct asking_record *r, bool stranger)
{
    const int64_t day_us = INT64_C(24) * 3600 * 1000000;

    if (r->flags & USER_SPAMMER)
        return true;
    if (r->sent >= 20 && r->accepted * 10 < r->sent)
        return true;
    return stranger && r->age_us < day_us;
}

/* --- text ----------------------------------------------------------------------------- */

static bool is_break(char c)
{
    return c == '\n' || c == '\r';
}

struct str note_collapse(struct arena *arena, struct str note)
{
    char *out = arena_alloc(arena, note.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < note.n; i++) {
        if (!is_break(note.p[i]))
            out[n++] = note.p[i];
        else if (i == 0 || !is_break(note.p[i - 1]))
            out[n++] = ' ';
    }
    struct str s = str_trim(str_slice(out, n));
    return s.n ? s : (struct str){ 0 };
}

/* Parses a discriminator, "0042" or 42; false: neither form. */
static bool digits_read(struct str raw, int64_t *ret)
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

bool tag_read(struct str username, struct str raw, struct user_tag *ret)
{
    *ret = (struct user_tag){ .name = username };
    if (raw.p && !str_is(raw, "null"))
        return digits_read(raw, &ret->discriminator);
    for (size_t i = username.n; i-- > 1;)
        if (username.p[i] == '#') {
            struct str digits = str_from(username, i + 1);

            if (digits.n && digits_read(digits, &ret->discriminator))
                ret->name = str_slice(username.p, i);
            break;
        }
    return true;
}
