/* check_texts.c - matches texts with the guild's AutoMod rules, and blocks or reports them. */
#include "platform/automod/internal.h"

#include "model/fields/ids.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

/* --- matching texts with the compiled rules ------------------------------------------ */

static void match_texts_with_rule_set(const struct automod_rule_set *s, struct arena *arena,
                                      struct automod_text_check *j)
{
    j->hits = j->named = (struct list){ 0 };
    if (j->title.n) {
        automod_rule_set_find_hits(s, AUTOMOD_ON_MESSAGE, arena, j->title, &j->hits);
        for (size_t i = 0; i < j->hits.count; i++)
            ((struct automod_hit *)j->hits.items)[i].in_title = true;
    }
    if (j->text.n)
        automod_rule_set_find_hits(s, AUTOMOD_ON_MESSAGE, arena, j->text, &j->hits);
    if (j->name.n && automod_rule_set_checks_names(s))
        automod_rule_set_find_hits(s, AUTOMOD_ON_PROFILE, arena, j->name, &j->named);
    j->spam = automod_rule_set_get_spam_rule(s);
    j->found = true;
}

/* Reads the rules that the thread pool compiles. Runs in a read stage before the handler's
 * transaction. */
static enum err read_rules_to_compile(struct call *call)
{
    struct automod_text_check *j = call_get_stage_data(call, "automod_text_check");
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select automod_version from guilds where id = $1",
                        BIND(v_id(j->guild_id)), &row, &found);

    if (e || !found)
        return e;
    j->version = row_id(&row, 0);
    j->found = false;
    return automod_rules_list(call->tx, j->guild_id, &j->rules);
}

static enum err compile_rules_and_match_texts(struct call *call)
{
    struct automod_text_check *j = call_get_stage_data(call, "automod_text_check");
    struct automod_rule_set *s =
        automod_rule_set_cache_find(api_instance_number(call->api), j->guild_id, j->version);

    if (!s) {
        s = automod_rule_set_new(&j->rules);
        automod_rule_set_cache_insert(api_instance_number(call->api), j->guild_id, j->version, s);
    }
    match_texts_with_rule_set(s, call->arena, j);
    automod_rule_set_unref(s);
    return OK;
}

static bool text_checks_have_equal_texts(const struct automod_text_check *a,
                                         const struct automod_text_check *b)
{
    return str_eq(a->title, b->title) && str_eq(a->text, b->text) && str_eq(a->name, b->name);
}

enum err automod_match_texts(struct call *call, struct automod_text_check *about)
{
    const struct automod_text_check *before = call_get_stage_data(call, "automod_text_check");

    if (before && before->found && before->version == about->version &&
        before->guild_id == about->guild_id && text_checks_have_equal_texts(before, about)) {
        *about = *before;
        return OK;
    }
    struct automod_rule_set *s = automod_rule_set_cache_find(api_instance_number(call->api),
                                                             about->guild_id, about->version);
    bool slow = s && automod_rule_set_is_slow(s, about->title.n + about->text.n);
    if (s && !slow)
        match_texts_with_rule_set(s, call->arena, about);
    automod_rule_set_unref(s);
    if (s && !slow)
        return OK;
    struct automod_text_check *j = call_store_stage_data(call, "automod_text_check", sizeof *j);
    *j = *about;
    call->read = read_rules_to_compile;
    call->compute = compile_rules_and_match_texts;
    return call_restart_at_read_stage(call);
}

/* --- exempt roles and channels ------------------------------------------------------- */

static bool id_lists_intersect(const struct list *ids, const struct list *of)
{
    for (size_t i = 0; i < of->count; i++)
        if (id_list_contains(ids, ((const snowflake *)of->items)[i]))
            return true;
    return false;
}

/* Returns the ids of the channel and its category; for a thread, also the id of the parent
 * channel. */
static enum err collect_channel_and_parent_ids(struct call *call, const struct channel *c,
                                               struct list *ret)
{
    struct channel parent;

    id_list_add(call->arena, ret, c->id);
    if (c->parent_id.given != GIVEN)
        return OK;
    id_list_add(call->arena, ret, c->parent_id.value);
    if (!channel_is_thread(c->type))
        return OK;
    enum err e = channel_find(call->tx, c->parent_id.value, &parent);
    if (!e && parent.parent_id.given == GIVEN)
        id_list_add(call->arena, ret, parent.parent_id.value);
    return e == ERR_UNKNOWN_CHANNEL ? OK : e;
}

static const struct automod_rule *find_automod_rule_by_id(const struct list *rules, snowflake id)
{
    const struct automod_rule *all = rules->items;

    for (size_t i = 0; i < rules->count; i++)
        if (all[i].id == id)
            return &all[i];
    return NULL;
}

enum err automod_remove_hits_of_exempting_rules(struct call *call, const struct member *m,
                                                const struct channel *channel, struct list *hits,
                                                struct list *ret_rules)
{
    const struct automod_hit *all = hits->items;
    struct list rules, channels = { 0 }, left = { 0 };
    enum err e = automod_rules_list_without_metadata(call->tx, m->guild_id, &rules);

    *ret_rules = (struct list){ 0 };
    if (!e && channel)
        e = collect_channel_and_parent_ids(call, channel, &channels);
    for (size_t i = 0; !e && i < hits->count; i++) {
        const struct automod_rule *r = find_automod_rule_by_id(&rules, all[i].rule_id);

        if (!r || id_lists_intersect(&r->exempt_roles, &m->roles) ||
            id_lists_intersect(&r->exempt_channels, &channels))
            continue;
        *(struct automod_hit *)list_append(call->arena, &left, sizeof *all) = all[i];
        *(struct automod_rule *)list_append(call->arena, ret_rules, sizeof *r) = *r;
    }
    *hits = left;
    return e;
}

/* Rules that a message violates: the check before the message is written finds them, and their
 * actions are executed after it was written. */
struct matched_rules {
    struct list hits, rules;
};

static enum err add_spam_hit_if_text_repeated(struct call *call,
                                              const struct automod_checked_text *about,
                                              snowflake rule, struct list *hits)
{
    struct automod_hit hit = { .rule_id = rule,
                               .keyword.given = GIVEN_NULL,
                               .content.given = GIVEN_NULL };
    struct list one = { &hit, 1 }, rules;
    bool spam = false;
    /* Do not count the text as a repetition if the spam rule exempts the member or the channel. */
    enum err e =
        automod_remove_hits_of_exempting_rules(call, about->member, about->channel, &one, &rules);

    if (!e && one.count)
        e = automod_count_repeated_text(call->tx, about->member->guild_id, about->member->user_id,
                                        about->text, &spam);
    if (!e && spam)
        *(struct automod_hit *)list_append(call->arena, hits, sizeof hit) = hit;
    return e;
}

static bool has_blocking_hit_in_title(const struct list *hits, const struct list *rules)
{
    const struct automod_hit *h = hits->items;
    struct automod_rule *r = rules->items;

    for (size_t i = 0; i < hits->count; i++)
        if (h[i].in_title && automod_rules_have_action(&(struct list){ &r[i], 1 }, AUTOMOD_BLOCK))
            return true;
    return false;
}

static enum err block_message_text(struct call *call, struct automod_checked_text *about,
                                   const struct matched_rules *found)
{
    bool title = has_blocking_hit_in_title(&found->hits, &found->rules);
    struct automod_offence o = { .member = about->member,
                                 .channel = about->channel,
                                 .content = title ? about->title : about->text,
                                 .blocked = true };
    enum err e = automod_execute_actions(call, &o, &found->hits, &found->rules);

    about->refused = true;
    return e ? e
             : automod_reply_with_refusal(call, title ? ERR_TITLE_BLOCKED : ERR_MESSAGE_BLOCKED);
}

/* Blocks a message if its author's name violates a rule that has the quarantine action. */
static enum err block_message_of_quarantined_name(struct call *call,
                                                  struct automod_checked_text *about,
                                                  const struct automod_text_check *judged)
{
    struct list named = judged->named, rules;
    enum err e = automod_remove_hits_of_exempting_rules(call, about->member, NULL, &named, &rules);

    if (e || !automod_rules_have_action(&rules, AUTOMOD_QUARANTINE))
        return e;
    struct automod_offence o = { .member = about->member,
                                 .content = judged->name,
                                 .profile = "username",
                                 .seen_by = "message_send" };
    e = automod_execute_actions(call, &o, &named, &rules);
    about->refused = true;
    return e ? e : automod_reply_with_refusal(call, ERR_MESSAGE_BLOCKED);
}

static enum err check_message_text(struct call *call, struct automod_checked_text *about)
{
    struct matched_rules *found = arena_alloc(call->arena, sizeof *found);
    struct automod_text_check judged = { .guild_id = about->member->guild_id,
                                         .version = about->version,
                                         .title = about->title,
                                         .text = about->text };
    enum err e = automod_collect_member_names(call, about->member, &judged.name);

    if (!e)
        e = automod_match_texts(call, &judged);
    if (!e && judged.named.count)
        e = block_message_of_quarantined_name(call, about, &judged);
    if (e || about->refused)
        return e;
    if (judged.spam && !about->edited)
        e = add_spam_hit_if_text_repeated(call, about, judged.spam, &judged.hits);
    found->hits = judged.hits;
    if (e || !judged.hits.count)
        return e;
    e = automod_remove_hits_of_exempting_rules(call, about->member, about->channel, &found->hits,
                                               &found->rules);
    if (e || !found->hits.count)
        return e;
    if (automod_rules_have_action(&found->rules, AUTOMOD_BLOCK))
        return block_message_text(call, about, found);
    about->found = found;
    return OK;
}

static enum err execute_rule_actions_for_message(struct call *call,
                                                 const struct automod_checked_text *about)
{
    const struct matched_rules *found = about->found;
    struct automod_offence o = { .member = about->member,
                                 .channel = about->channel,
                                 .message_id = about->message_id,
                                 .content = about->text };

    return automod_execute_actions(call, &o, &found->hits, &found->rules);
}

const struct hook_listeners automod_hooks = {
    .message_text_check = check_message_text,
    .flagged_message_written = execute_rule_actions_for_message,
    .nickname_check = automod_check_nickname_of_member,
    .member_add_emitted = automod_check_new_member,
    .account_changed = automod_on_account_changed,
    .role_deleted = automod_remove_exempt_role,
    .channel_deleting = automod_remove_exempt_channel,
    .audit_log_fill = audit_log_reply_add_automod_rules,
};
