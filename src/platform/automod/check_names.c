/* check_names.c - AutoMod for names: refuses nicknames, quarantines members with forbidden names.
 */
#include "platform/automod/internal.h"

#include "model/fields/ids.h"
#include "platform/members/members.h"

enum err automod_collect_member_names(struct call *call, const struct member *m, struct str *ret)
{
    struct user loaded;
    const struct user *user = m->user;
    enum err e = user ? OK : user_find(call->tx, m->user_id, &loaded);

    if (e)
        return e;
    if (!user)
        user = &loaded;
    /* one name per line, so that no keyword matches across two names */
    *ret = STR_CONCAT(call->arena, user->username, STR("\n"),
                      user->global_name.given == GIVEN ? user->global_name.value : STR(""),
                      STR("\n"), m->nick.given == GIVEN ? m->nick.value : STR(""));
    return OK;
}

static enum err read_automod_rules_version(struct call *call, snowflake guild_id, snowflake *ret)
{
    return tx_read_id(call->tx, "select automod_version from guilds where id = $1",
                      BIND(v_id(guild_id)), ret);
}

/* Finds the rules that a member's names violate, without rules that exempt the member. */
static enum err find_rule_hits_in_names(struct call *call, const struct member *m,
                                        snowflake version, struct str name, struct list *ret_hits,
                                        struct list *ret_rules)
{
    struct automod_text_check j = { .guild_id = m->guild_id, .version = version, .name = name };
    enum err e = version ? automod_match_texts(call, &j) : OK;

    *ret_hits = j.named;
    *ret_rules = (struct list){ 0 };
    return e || !j.named.count
               ? e
               : automod_remove_hits_of_exempting_rules(call, m, NULL, ret_hits, ret_rules);
}

/* If no name of a quarantined member violates a rule any longer, ends the quarantine. */
static enum err end_quarantine_if_names_allowed(struct call *call, struct member *m,
                                                snowflake version)
{
    struct list hits, rules;
    struct str name;
    enum err e = automod_collect_member_names(call, m, &name);

    if (!e)
        e = find_rule_hits_in_names(call, m, version, name, &hits, &rules);
    if (!e && !automod_rules_have_action(&rules, AUTOMOD_QUARANTINE))
        m->flags &= ~(int64_t)MEMBER_QUARANTINED;
    return e;
}

enum err automod_check_nickname_of_member(struct call *call, struct automod_checked_nickname *about)
{
    struct member *m = about->member;
    struct list hits, rules;
    enum err e =
        about->trusted || !m->nick.value.n
            ? OK
            : find_rule_hits_in_names(call, m, about->version, m->nick.value, &hits, &rules);

    if (e)
        return e;
    if (!about->trusted && m->nick.value.n &&
        automod_rules_have_action(&rules, AUTOMOD_QUARANTINE)) {
        struct automod_offence o = {
            .member = m, .content = m->nick.value, .blocked = true, .profile = "nickname_update"
        };

        about->refused = true;
        e = automod_execute_actions(call, &o, &hits, &rules);
        return e ? e : automod_reply_with_refusal(call, ERR_MESSAGE_BLOCKED);
    }
    return m->flags & MEMBER_QUARANTINED ? end_quarantine_if_names_allowed(call, m, about->version)
                                         : OK;
}

enum err automod_check_new_member(struct call *call, const struct member *m)
{
    struct list hits, rules;
    struct str name;
    snowflake version;
    enum err e = read_automod_rules_version(call, m->guild_id, &version);

    if (e || !version || (m->user && m->user->bot.value))
        return e;
    e = automod_collect_member_names(call, m, &name);
    if (!e)
        e = find_rule_hits_in_names(call, m, version, name, &hits, &rules);
    if (e || !hits.count)
        return e;
    struct automod_offence o = {
        .member = m, .content = name, .profile = "username", .seen_by = "guild_join"
    };
    return automod_execute_actions(call, &o, &hits, &rules);
}

static const char QUARANTINED_IN[] =
    "select guild_id from members where user_id = $1 and (flags & 128) <> 0";

enum err automod_on_account_changed(struct call *call, const struct user *user)
{
    struct list guilds;
    enum err e = tx_read_ids(call->tx, QUARANTINED_IN, BIND(v_id(user->id)), &guilds);

    for (size_t i = 0; !e && i < guilds.count; i++) {
        struct member m;
        snowflake version = 0;

        e = member_find(call->tx, ((snowflake *)guilds.items)[i], user->id, &m);
        m.user = user;
        if (!e)
            e = read_automod_rules_version(call, m.guild_id, &version);
        if (!e)
            e = end_quarantine_if_names_allowed(call, &m, version);
        if (!e && !(m.flags & MEMBER_QUARANTINED))
            e = member_update_and_emit(call, &m);
    }
    return e;
}
