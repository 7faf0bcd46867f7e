/* mentions.c - determines which users and roles a message pings: those mentioned in the text that
 * the sender's permissions and allowed_mentions permit. */
#include "platform/messages/internal.h"

#include "model/fields/ids.h"
#include "platform/guilds/guilds.h"

enum { MOST = 100 };

static bool mention_kind_is_allowed(const struct allowed_mentions *allowed, const char *kind)
{
    if (!allowed)
        return true;
    for (size_t i = 0; i < allowed->parse.value.count; i++)
        if (str_is(((const struct str *)allowed->parse.value.items)[i], kind))
            return true;
    return false;
}

static void add_mentioned_id_once(struct call *call, struct list *ids, snowflake id)
{
    if (ids->count < MOST && !id_list_contains(ids, id))
        id_list_add(call->arena, ids, id);
}

/* Users and roles that the text mentions: <@1>, <@!1>, <@&2>, @everyone, @here. */
struct candidate_mentions {
    struct list users, roles;
    bool everyone;
};

/* Parses "@123>" after the "<"; returns the number of characters parsed. */
static size_t parse_mention(struct call *call, struct str s, struct candidate_mentions *named)
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
    add_mentioned_id_once(call, role ? &named->roles : &named->users, id);
    return at + 1;
}

static void parse_mentions(struct call *call, struct str s, struct candidate_mentions *named)
{
    while (s.n) {
        const char *at = memchr(s.p, '@', s.n);

        if (!at)
            return;
        bool bracket = at > s.p && at[-1] == '<';
        s = str_skip_bytes(s, (size_t)(at - s.p));
        if (str_starts_with(s, STR("@everyone")) || str_starts_with(s, STR("@here")))
            named->everyone = true;
        s = str_skip_bytes(s, bracket ? parse_mention(call, s, named) : 1);
    }
}

static enum err resolve_user_mentions(struct call *call, const struct candidate_mentions *named,
                                      const struct allowed_mentions *allowed, struct list *ret)
{
    const snowflake *ids = named->users.items;
    bool all = mention_kind_is_allowed(allowed, "users");
    struct user user;

    for (size_t i = 0; i < named->users.count; i++) {
        if (!all && !id_list_contains(&allowed->users.value, ids[i]))
            continue;
        enum err e = user_find(call->tx, ids[i], &user);

        if (e && e != ERR_UNKNOWN_USER)
            return e;
        if (!e)
            add_mentioned_id_once(call, ret, ids[i]);
    }
    return OK;
}

static enum err resolve_role_mentions(struct call *call, const struct channel *c, uint64_t perms,
                                      const struct candidate_mentions *named,
                                      const struct allowed_mentions *allowed, struct list *ret)
{
    const snowflake *ids = named->roles.items;
    bool all = mention_kind_is_allowed(allowed, "roles");
    struct role role;

    for (size_t i = 0; i < named->roles.count; i++) {
        if (!all && !id_list_contains(&allowed->roles.value, ids[i]))
            continue;
        enum err e = role_find(call->tx, c->guild_id.value, ids[i], &role);

        if (e && e != ERR_UNKNOWN_ROLE)
            return e;
        if (!e && (role.mentionable || perms & PERMISSION(MENTION_EVERYONE)))
            add_mentioned_id_once(call, ret, ids[i]);
    }
    return OK;
}

enum err resolve_mentions_of_message(struct call *call, const struct channel *c, uint64_t perms,
                                     struct str content, const struct allowed_mentions *allowed,
                                     snowflake replied, struct resolved_mentions *ret)
{
    struct candidate_mentions named = { .everyone = false };
    enum err e;

    *ret = (struct resolved_mentions){ .everyone = false };
    parse_mentions(call, content, &named);
    ret->everyone = named.everyone && mention_kind_is_allowed(allowed, "everyone") &&
                    perms & PERMISSION(MENTION_EVERYONE) && c->type != CHANNEL_DM;
    e = resolve_user_mentions(call, &named, allowed, &ret->users);
    if (!e && !channel_is_private(c->type))
        e = resolve_role_mentions(call, c, perms, &named, allowed, &ret->roles);
    if (!e && replied && (!allowed || allowed->replied_user.value))
        add_mentioned_id_once(call, &ret->users, replied);
    return e;
}
