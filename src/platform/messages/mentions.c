/* mentions.c - determines which users and roles a message pings: the text names candidates; the
 * sender's permissions and allowed_mentions select among them. */
#include "platform/messages/internal.h"

#include "model/fields/ids.h"
#include "platform/guilds/guilds.h"

enum { MOST = 100 };

static bool mention_parses(const struct allowed_mentions *allowed, const char *kind)
{
    if (!allowed)
        return true;
    for (size_t i = 0; i < allowed->parse.value.count; i++)
        if (str_is(((const struct str *)allowed->parse.value.items)[i], kind))
            return true;
    return false;
}

static void mention_add(struct call *call, struct list *ids, snowflake id)
{
    if (ids->count < MOST && !ids_hold(ids, id))
        ids_add(call->arena, ids, id);
}

/* Mentions in the text: <@1>, <@!1>, <@&2>, @everyone, @here. */
struct named_mentions {
    struct list users, roles;
    bool everyone;
};

/* Parses "@123>" after the "<"; returns the number of characters parsed. */
static size_t read_mention(struct call *call, struct str s, struct named_mentions *named)
{
    size_t at = 1;
    bool role = at < s.n && s.p[at] == '&', bang = at < s.n && s.p[at] == '!';
    snowflake id;

    at += role || bang;
    size_t from = at;
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
        at++;
    if (at == s.n || s.p[at] != '>' || !snowflake_parse(str_slice(s.p + from, at - from), &id))
        return 1;
    mention_add(call, role ? &named->roles : &named->users, id);
    return at + 1;
}

static void read_text(struct call *call, struct str s, struct named_mentions *named)
{
    while (s.n) {
        const char *at = memchr(s.p, '@', s.n);

        if (!at)
            return;
        bool bracket = at > s.p && at[-1] == '<';
        s = str_from(s, (size_t)(at - s.p));
        if (str_starts(s, STR("@everyone")) || str_starts(s, STR("@here")))
            named->everyone = true;
        s = str_from(s, bracket ? read_mention(call, s, named) : 1);
    }
}

static enum err find_users(struct call *call, const struct named_mentions *named,
                           const struct allowed_mentions *allowed, struct list *ret)
{
    const snowflake *ids = named->users.items;
    bool all = mention_parses(allowed, "users");
    struct user user;

    for (size_t i = 0; i < named->users.count; i++) {
        if (!all && !ids_hold(&allowed->users.value, ids[i]))
            continue;
        enum err e = user_find(call->tx, ids[i], &user);

        if (e && e != ERR_UNKNOWN_USER)
            return e;
        if (!e)
            mention_add(call, ret, ids[i]);
    }
    return OK;
}

static enum err find_roles(struct call *call, const struct channel *c, uint64_t rights,
                           const struct named_mentions *named,
                           const struct allowed_mentions *allowed, struct list *ret)
{
    const snowflake *ids = named->roles.items;
    bool all = mention_parses(allowed, "roles");
    struct role role;

    for (size_t i = 0; i < named->roles.count; i++) {
        if (!all && !ids_hold(&allowed->roles.value, ids[i]))
            continue;
        enum err e = role_find(call->tx, c->guild_id.value, ids[i], &role);

        if (e && e != ERR_UNKNOWN_ROLE)
            return e;
        if (!e && (role.mentionable || rights & PERMISSION(MENTION_EVERYONE)))
            mention_add(call, ret, ids[i]);
    }
    return OK;
}

enum err mentions_find(struct call *call, const struct channel *c, uint64_t rights,
                       struct str content, const struct allowed_mentions *allowed,
                       snowflake replied, struct mentions *ret)
{
    struct named_mentions named = { .everyone = false };
    enum err e;

    *ret = (struct mentions){ .everyone = false };
    read_text(call, content, &named);
    ret->everyone = named.everyone && mention_parses(allowed, "everyone") &&
                    rights & PERMISSION(MENTION_EVERYONE) && c->type != CHANNEL_DM;
    e = find_users(call, &named, allowed, &ret->users);
    if (!e && !channel_is_private(c->type))
        e = find_roles(call, c, rights, &named, allowed, &ret->roles);
    if (!e && replied && (!allowed || allowed->replied_user.value))
        mention_add(call, &ret->users, replied);
    return e;
}
