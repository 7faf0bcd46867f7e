/* judge.c - matches texts with the guild's AutoMod rules, and blocks or reports them. */
#include "platform/automod/internal.h"

#include "model/fields/ids.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

/* --- matching with the compiled set --------------------------------------------------- */

static void set_judge(const struct automod_set *s, struct arena *arena, struct judging *j)
{
    j->hits = j->named = (struct list){ 0 };
    if (j->title.n) {
        automod_set_find(s, AUTOMOD_ON_MESSAGE, arena, j->title, &j->hits);
        for (size_t i = 0; i < j->hits.count; i++)
            ((struct automod_hit *)j->hits.items)[i].in_title = true;
    }
    if (j->text.n)
        automod_set_find(s, AUTOMOD_ON_MESSAGE, arena, j->text, &j->hits);
    if (j->name.n && automod_set_has_profile(s))
        automod_set_find(s, AUTOMOD_ON_PROFILE, arena, j->name, &j->named);
    j->spam = automod_set_spam(s);
    j->found = true;
}

/* Runs before the transaction: reads the rules that the thread pool then compiles. */
static enum err look_at_rules(struct call *call)
{
    struct judging *j = call_passed(call, "automod_check");
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select automod_version from guilds where id = $1",
                        BIND(v_id(j->guild_id)), &row, &found);

    if (e || !found)
        return e;
    j->version = row_id(&row, 0);
    j->found = false;
    return automod_rules(call->tx, j->guild_id, &j->rules);
}

static enum err compile_and_judge(struct call *call)
{
    struct judging *j = call_passed(call, "automod_check");
    struct automod_set *s = automod_kept(api_number(call->api), j->guild_id, j->version);

    if (!s) {
        s = automod_set_new(&j->rules);
        automod_keep(api_number(call->api), j->guild_id, j->version, s);
    }
    set_judge(s, call->arena, j);
    automod_set_unref(s);
    return OK;
}

static bool same_texts(const struct judging *a, const struct judging *b)
{
    return str_eq(a->title, b->title) && str_eq(a->text, b->text) && str_eq(a->name, b->name);
}

enum err judge_texts(struct call *call, struct judging *about)
{
    const struct judging *before = call_passed(call, "automod_check");

    if (before && before->found && before->version == about->version &&
        before->guild_id == about->guild_id && same_texts(before, about)) {
        *about = *before;
        return OK;
    }
    struct automod_set *s = automod_kept(api_number(call->api), about->guild_id, about->version);
    bool slow = s && automod_set_is_slow(s, about->title.n + about->text.n);
    if (s && !slow)
        set_judge(s, call->arena, about);
    automod_set_unref(s);
    if (s && !slow)
        return OK;
    struct judging *j = call_pass(call, "automod_check", sizeof *j);
    *j = *about;
    call->look = look_at_rules;
    call->compute = compile_and_judge;
    return call_look_again(call);
}

/* --- exemptions ----------------------------------------------------------------------- */

static bool any_held(const struct list *ids, const struct list *of)
{
    for (size_t i = 0; i < of->count; i++)
        if (ids_hold(ids, ((const snowflake *)of->items)[i]))
            return true;
    return false;
}

/* Returns the ids of the channel, of a thread's parent channel, and of their category. */
static enum err places_of(struct call *call, const struct channel *c, struct list *ret)
{
    struct channel parent;

    ids_add(call->arena, ret, c->id);
    if (c->parent_id.given != GIVEN)
        return OK;
    ids_add(call->arena, ret, c->parent_id.value);
    if (!channel_is_thread(c->type))
        return OK;
    enum err e = channel_find(call->tx, c->parent_id.value, &parent);
    if (!e && parent.parent_id.given == GIVEN)
        ids_add(call->arena, ret, parent.parent_id.value);
    return e == ERR_UNKNOWN_CHANNEL ? OK : e;
}

static const struct automod_rule *rule_of(const struct list *rules, snowflake id)
{
    const struct automod_rule *all = rules->items;

    for (size_t i = 0; i < rules->count; i++)
        if (all[i].id == id)
            return &all[i];
    return NULL;
}

enum err judge_exempt(struct call *call, const struct member *m, const struct channel *channel,
                      struct list *hits, struct list *ret_rules)
{
    const struct automod_hit *all = hits->items;
    struct list rules, places = { 0 }, left = { 0 };
    enum err e = automod_rules_light(call->tx, m->guild_id, &rules);

    *ret_rules = (struct list){ 0 };
    if (!e && channel)
        e = places_of(call, channel, &places);
    for (size_t i = 0; !e && i < hits->count; i++) {
        const struct automod_rule *r = rule_of(&rules, all[i].rule_id);

        if (!r || any_held(&r->exempt_roles, &m->roles) || any_held(&r->exempt_channels, &places))
            continue;
        *(struct automod_hit *)list_add(call->arena, &left, sizeof *all) = all[i];
        *(struct automod_rule *)list_add(call->arena, ret_rules, sizeof *r) = *r;
    }
    *hits = left;
    return e;
}

/* --- texts ---------------------------------------------------------------------------- */

/* Hits and their rules, passed from the check to the write of the message. */
struct found_offence {
    struct list hits, rules;
};

static enum err add_repetition(struct call *call, const struct text_judged *about, snowflake rule,
                               struct list *hits)
{
    struct automod_hit hit = { .rule_id = rule,
                               .keyword.given = GIVEN_NULL,
                               .content.given = GIVEN_NULL };
    struct list one = { &hit, 1 }, rules;
    bool spam = false;
    /* Messages of exempt members do not count as repetitions. */
    enum err e = judge_exempt(call, about->member, about->channel, &one, &rules);

    if (!e && one.count)
        e = automod_count_echo(call->tx, about->member->guild_id, about->member->user_id,
                               about->text, &spam);
    if (!e && spam)
        *(struct automod_hit *)list_add(call->arena, hits, sizeof hit) = hit;
    return e;
}

static bool blocks_title(const struct list *hits, const struct list *rules)
{
    const struct automod_hit *h = hits->items;
    struct automod_rule *r = rules->items;

    for (size_t i = 0; i < hits->count; i++)
        if (h[i].in_title && rules_have_action(&(struct list){ &r[i], 1 }, AUTOMOD_BLOCK))
            return true;
    return false;
}

static enum err text_refuse(struct call *call, struct text_judged *about,
                            const struct found_offence *found)
{
    bool title = blocks_title(&found->hits, &found->rules);
    struct offence o = { .member = about->member,
                         .channel = about->channel,
                         .content = title ? about->title : about->text,
                         .blocked = true };
    enum err e = offence_answer(call, &o, &found->hits, &found->rules);

    about->refused = true;
    return e ? e : offence_refuse(call, title ? ERR_TITLE_BLOCKED : ERR_MESSAGE_BLOCKED);
}

/* Blocks the message if a name of its author breaks a rule that has the quarantine action. */
static enum err refuse_named(struct call *call, struct text_judged *about,
                             const struct judging *judged)
{
    struct list named = judged->named, rules;
    enum err e = judge_exempt(call, about->member, NULL, &named, &rules);

    if (e || !rules_have_action(&rules, AUTOMOD_QUARANTINE))
        return e;
    struct offence o = { .member = about->member,
                         .content = judged->name,
                         .profile = "username",
                         .seen_by = "message_send" };
    e = offence_answer(call, &o, &named, &rules);
    about->refused = true;
    return e ? e : offence_refuse(call, ERR_MESSAGE_BLOCKED);
}

static enum err text_judge(struct call *call, struct text_judged *about)
{
    struct found_offence *found = arena_alloc(call->arena, sizeof *found);
    struct judging judged = { .guild_id = about->member->guild_id,
                              .version = about->version,
                              .title = about->title,
                              .text = about->text };
    enum err e = automod_names(call, about->member, &judged.name);

    if (!e)
        e = judge_texts(call, &judged);
    if (!e && judged.named.count)
        e = refuse_named(call, about, &judged);
    if (e || about->refused)
        return e;
    if (judged.spam && !about->edited)
        e = add_repetition(call, about, judged.spam, &judged.hits);
    found->hits = judged.hits;
    if (e || !judged.hits.count)
        return e;
    e = judge_exempt(call, about->member, about->channel, &found->hits, &found->rules);
    if (e || !found->hits.count)
        return e;
    if (rules_have_action(&found->rules, AUTOMOD_BLOCK))
        return text_refuse(call, about, found);
    about->found = found;
    return OK;
}

static enum err text_written(struct call *call, const struct text_judged *about)
{
    const struct found_offence *found = about->found;
    struct offence o = { .member = about->member,
                         .channel = about->channel,
                         .message_id = about->message_id,
                         .content = about->text };

    return offence_answer(call, &o, &found->hits, &found->rules);
}

const struct hooks automod_hooks = {
    .text_judged = text_judge,
    .text_written = text_written,
    .name_judged = automod_judge_name,
    .member_arrived = automod_meet_newcomer,
    .account_changed = automod_account_changed,
    .role_gone = automod_forget_role,
    .channel_ending = automod_forget_channel,
    .audit_shown = automod_in_audit,
};
