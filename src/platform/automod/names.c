/* names.c - AutoMod for names: refuses nicknames, quarantines members with forbidden names. */
#include "platform/automod/internal.h"

#include "model/fields/ids.h"
#include "platform/members/members.h"

enum err automod_names(struct call *call, const struct member *m, struct str *ret)
{
    struct user loaded;
    const struct user *user = m->user;
    enum err e = user ? OK : user_find(call->tx, m->user_id, &loaded);

    if (e)
        return e;
    if (!user)
        user = &loaded;
    /* One name per line, so that no keyword matches across two names. */
    *ret = STR_CONCAT(call->arena, user->username, STR("\n"),
                      user->global_name.given == GIVEN ? user->global_name.value : STR(""),
                      STR("\n"), m->nick.given == GIVEN ? m->nick.value : STR(""));
    return OK;
}

static enum err version_of(struct call *call, snowflake guild_id, snowflake *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select automod_version from guilds where id = $1",
                        BIND(v_id(guild_id)), &row, &found);

    if (!e)
        *ret = found ? row_id(&row, 0) : 0;
    return e;
}

/* Finds the rules that a member's names break, without rules that exempt the member. */
static enum err find_named(struct call *call, const struct member *m, snowflake version,
                           struct str name, struct list *ret_hits, struct list *ret_rules)
{
    struct judging j = { .guild_id = m->guild_id, .version = version, .name = name };
    enum err e = version ? judge_texts(call, &j) : OK;

    *ret_hits = j.named;
    *ret_rules = (struct list){ 0 };
    return e || !j.named.count ? e : judge_exempt(call, m, NULL, ret_hits, ret_rules);
}

/* Ends the quarantine of a member whose names no longer break a rule. */
static enum err name_release(struct call *call, struct member *m, snowflake version)
{
    struct list hits, rules;
    struct str name;
    enum err e = automod_names(call, m, &name);

    if (!e)
        e = find_named(call, m, version, name, &hits, &rules);
    if (!e && !rules_have_action(&rules, AUTOMOD_QUARANTINE))
        m->flags &= ~(int64_t)MEMBER_QUARANTINED;
    return e;
}

enum err automod_judge_name(struct call *call, struct name_judged *about)
{
    struct member *m = about->member;
    struct list hits, rules;
    enum err e = about->trusted || !m->nick.value.n
                     ? OK
                     : find_named(call, m, about->version, m->nick.value, &hits, &rules);

    if (e)
        return e;
    if (!about->trusted && m->nick.value.n && rules_have_action(&rules, AUTOMOD_QUARANTINE)) {
        struct offence o = {
            .member = m, .content = m->nick.value, .blocked = true, .profile = "nickname_update"
        };

        about->refused = true;
        e = offence_answer(call, &o, &hits, &rules);
        return e ? e : offence_refuse(call, ERR_MESSAGE_BLOCKED);
    }
    return m->flags & MEMBER_QUARANTINED ? name_release(call, m, about->version) : OK;
}

enum err automod_meet_newcomer(struct call *call, const struct member *m)
{
    struct list hits, rules;
    struct str name;
    snowflake version;
    enum err e = version_of(call, m->guild_id, &version);

    if (e || !version || (m->user && m->user->bot.value))
        return e;
    e = automod_names(call, m, &name);
    if (!e)
        e = find_named(call, m, version, name, &hits, &rules);
    if (e || !hits.count)
        return e;
    struct offence o = {
        .member = m, .content = name, .profile = "username", .seen_by = "guild_join"
    };
    return offence_answer(call, &o, &hits, &rules);
}

static const char QUARANTINED_IN[] =
    "select guild_id from members where user_id = $1 and (flags & 128) <> 0";

enum err automod_account_changed(struct call *call, const struct user *user)
{
    struct list guilds;
    enum err e = tx_ids(call->tx, QUARANTINED_IN, BIND(v_id(user->id)), &guilds);

    for (size_t i = 0; !e && i < guilds.count; i++) {
        struct member m;
        snowflake version = 0;

        e = member_find(call->tx, ((snowflake *)guilds.items)[i], user->id, &m);
        m.user = user;
        if (!e)
            e = version_of(call, m.guild_id, &version);
        if (!e)
            e = name_release(call, &m, version);
        if (!e && !(m.flags & MEMBER_QUARANTINED))
            e = member_save(call, &m);
    }
    return e;
}
