/* put_onboarding.c - PUT /guilds/{guild.id}/onboarding. A read transaction reads the current state,
 * the thread pool validates the body and encodes it, and the write transaction only writes. If the
 * stored version has changed since the read, all stages run again. */
#include "base/emoji.h"
#include "base/mem.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/emojis/emojis.h"
#include "platform/onboarding/internal.h"

struct onboarding_change_state {
    struct onboarding before, now;
    struct guild_roles_and_channels positions;
    struct list emojis; /* all emojis of the guild (struct emoji) */
    struct member_access standing;
    uint64_t everyone; /* permissions of @everyone */
    struct str prompts, channels, reply;
    struct list audit; /* struct onboarding_audit_entry */
};
struct onboarding_audit_entry {
    enum audit_log_action action;
    snowflake target;
    struct list changes; /* struct audit_log_change */
};

/* --- checks --------------------------------------------------------------------------- */

/* Checks that the roles of an option exist and that the caller may assign them. */
static enum err check_roles_of_onboarding_option(struct call *call,
                                                 const struct onboarding_change_state *w,
                                                 const struct list *ids,
                                                 const struct json_path *all)
{
    const snowflake *id = ids->items;

    for (size_t i = 0; i < ids->count; i++) {
        const struct role *role = find_guild_role_by_id(&w->positions, id[i]);
        struct json_path at = json_path_index(all, i);

        if (!role || role->managed || role->id == w->now.guild_id)
            form_add_error(&call->form, &at, FORM_CHOICES,
                           "Value must be a role that can be assigned.");
        else if (!member_outranks_role(&w->standing, role))
            return call_get_rank_too_low_error(call);
    }
    return OK;
}

static void check_onboarding_channel_ids(struct call *call, const struct onboarding_change_state *w,
                                         const struct list *ids, const struct json_path *all)
{
    const snowflake *id = ids->items;

    for (size_t i = 0; i < ids->count; i++) {
        const struct channel *c = find_guild_channel_by_id(&w->positions, id[i]);
        struct json_path at = json_path_index(all, i);

        if (!c || c->type == CHANNEL_CATEGORY)
            form_add_error(&call->form, &at, FORM_CHOICES, "Value must be a channel of the guild.");
    }
}

static const struct emoji *find_guild_emoji(const struct onboarding_change_state *w, snowflake id)
{
    const struct emoji *e = w->emojis.items;

    for (size_t i = 0; i < w->emojis.count; i++)
        if (e[i].id == id)
            return &e[i];
    return NULL;
}

static void resolve_option_emoji(struct call *call, const struct onboarding_change_state *w,
                                 struct onboarding_option *o, const struct json_path *here)
{
    struct onboarding_option_emoji *out = arena_alloc(call->arena, sizeof *out);
    struct json_path id_at = json_path_key(here, STR("emoji_id")),
                     name_at = json_path_key(here, STR("emoji_name"));
    const struct emoji *e;

    *out = (struct onboarding_option_emoji){ .id.given = GIVEN_NULL, .name.given = GIVEN_NULL };
    o->emoji = out;
    if (o->emoji_id.given == GIVEN) {
        e = find_guild_emoji(w, o->emoji_id.value);
        if (!e) {
            form_add_error(&call->form, &id_at, FORM_CHOICES,
                           "Value must be an emoji of the guild.");
            return;
        }
        *out = (struct onboarding_option_emoji){ opt_id_or_null(e->id), opt_str_or_null(e->name),
                                                 e->animated };
    } else if (o->emoji_name.given == GIVEN && o->emoji_name.value.n) {
        if (!is_emoji(o->emoji_name.value))
            form_add_error(&call->form, &name_at, FORM_CHOICES, "Not an emoji.");
        out->name = o->emoji_name;
    }
}

/* --- ids ------------------------------------------------------------------------------ */

static const struct onboarding_prompt *find_previous_prompt(const struct onboarding_change_state *w,
                                                            snowflake id)
{
    const struct onboarding_prompt *p = w->before.prompts.items;

    for (size_t i = 0; i < w->before.prompts.count; i++)
        if (p[i].id == id)
            return &p[i];
    return NULL;
}

static bool prompt_has_option(const struct onboarding_prompt *p, snowflake id)
{
    const struct onboarding_option *o = p ? p->options.items : NULL;

    for (size_t i = 0; p && i < p->options.count; i++)
        if (o[i].id == id)
            return true;
    return false;
}

/* Returns the id of a prompt or option. The id in the body is used if the guild already has such an
 * object (`known`) and no earlier one in the body has the id. Otherwise returns a new id, because
 * clients send arbitrary ids for new objects. */
static snowflake choose_prompt_or_option_id(struct call *call, struct list *seen, snowflake id,
                                            bool known)
{
    snowflake settled = known && !id_list_contains(seen, id) ? id : snowflake_new();

    id_list_add(call->arena, seen, settled);
    return settled;
}

static enum err check_onboarding_prompt_option(struct call *call,
                                               const struct onboarding_change_state *w,
                                               struct onboarding_option *o,
                                               const struct json_path *here)
{
    struct json_path roles = json_path_key(here, STR("role_ids")),
                     channels = json_path_key(here, STR("channel_ids"));

    if (o->given_description.given == GIVEN)
        o->description = o->given_description.value;
    else
        o->description = STR("");
    resolve_option_emoji(call, w, o, here);
    check_onboarding_channel_ids(call, w, &o->channel_ids, &channels);
    return check_roles_of_onboarding_option(call, w, &o->role_ids, &roles);
}

static enum err check_onboarding_prompt(struct call *call, struct onboarding_change_state *w,
                                        struct onboarding_prompt *p, struct list *seen,
                                        const struct json_path *here)
{
    const struct onboarding_prompt *before = find_previous_prompt(w, p->id);
    struct onboarding_option *o = p->options.items;
    struct json_path all = json_path_key(here, STR("options"));
    struct list options_seen = { 0 };
    enum err e = OK;

    p->id = choose_prompt_or_option_id(call, seen, p->id, before != NULL);
    for (size_t i = 0; !e && i < p->options.count; i++) {
        struct json_path at = json_path_index(&all, i);
        snowflake id = o[i].given_id.value;

        o[i].id = choose_prompt_or_option_id(
            call, &options_seen, id, o[i].given_id.given == GIVEN && prompt_has_option(before, id));
        e = check_onboarding_prompt_option(call, w, &o[i], &at);
    }
    return e;
}

/* Copies the prompts, because this stage changes them and may run again with the same body. */
static struct list copy_prompts(struct arena *arena, const struct list *prompts)
{
    const struct onboarding_prompt *p = prompts->items;
    struct list out = { 0 };

    for (size_t i = 0; i < prompts->count; i++) {
        struct onboarding_prompt *copy = list_append(arena, &out, sizeof *copy);
        const struct onboarding_option *o = p[i].options.items;

        *copy = p[i];
        copy->options = (struct list){ 0 };
        for (size_t k = 0; k < p[i].options.count; k++)
            *(struct onboarding_option *)list_append(arena, &copy->options, sizeof *o) = o[k];
    }
    return out;
}

static enum err check_onboarding_prompts(struct call *call, struct onboarding_change_state *w)
{
    const struct onboarding_put_body *in = call->body;
    struct json_path all = json_path_key(NULL, STR("prompts"));
    struct list seen = { 0 };
    enum err e = OK;

    w->now.prompts = copy_prompts(call->arena, &in->prompts.value);
    struct onboarding_prompt *p = w->now.prompts.items;
    for (size_t i = 0; !e && i < w->now.prompts.count; i++) {
        struct json_path at = json_path_index(&all, i);

        e = check_onboarding_prompt(call, w, &p[i], &seen, &at);
    }
    return e;
}

/* --- requirements for enabling -------------------------------------------------------- */

static void collect_option_channels(struct arena *arena, const struct onboarding *o,
                                    struct list *ret)
{
    const struct onboarding_prompt *p = o->prompts.items;

    for (size_t i = 0; i < o->prompts.count; i++) {
        const struct onboarding_option *option = p[i].options.items;

        for (size_t k = 0; k < p[i].options.count; k++) {
            const snowflake *id = option[k].channel_ids.items;

            for (size_t n = 0; n < option[k].channel_ids.count; n++)
                if (!id_list_contains(ret, id[n]))
                    id_list_add(arena, ret, id[n]);
        }
    }
}

/* Checks that new members see enough channels and can write in most of them. */
static bool meets_channel_requirements(struct call *call, const struct onboarding_change_state *w)
{
    const uint64_t writing = PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES);
    const struct permission_computation_input everyone = { .guild_id = w->now.guild_id,
                                                           .base = w->everyone };
    const snowflake *id = w->now.default_channel_ids.items;
    struct list counted = { 0 };
    size_t seen = 0, writable = 0;

    for (size_t i = 0; i < w->now.default_channel_ids.count; i++)
        if (!id_list_contains(&counted, id[i]))
            id_list_add(call->arena, &counted, id[i]);
    if (w->now.mode == ONBOARDING_ADVANCED)
        collect_option_channels(call->arena, &w->now, &counted);
    id = counted.items;
    for (size_t i = 0; i < counted.count; i++) {
        const struct channel *c = find_guild_channel_by_id(&w->positions, id[i]);
        const struct list *o = c ? &c->permission_overwrites.value : NULL;
        uint64_t perms =
            c ? permissions_in_channel(&everyone, c->type, o->items, o->count, false) : 0;

        seen += c != NULL;
        writable += (perms & writing) == writing;
    }
    return seen >= NEEDED_CHANNELS && writable >= NEEDED_WRITABLE;
}

/* --- audit log ------------------------------------------------------------------------ */

static void add_onboarding_audit_entry(struct call *call, struct onboarding_change_state *w,
                                       enum audit_log_action action, snowflake target)
{
    *(struct onboarding_audit_entry *)list_append(call->arena, &w->audit,
                                                  sizeof(struct onboarding_audit_entry)) =
        (struct onboarding_audit_entry){ .action = action, .target = target };
}

/* Adds the audit log entry of a new prompt. It contains all fields of the prompt, because client
 * libraries need them. */
static void add_prompt_create_entry(struct call *call, struct onboarding_change_state *w,
                                    const struct onboarding_prompt *p)
{
    struct onboarding_audit_entry *n = list_append(call->arena, &w->audit, sizeof *n);

    *n = (struct onboarding_audit_entry){ .action = AUDIT_ONBOARDING_PROMPT_CREATE,
                                          .target = p->id };
    audit_log_add_typed_change_to_list(call, &n->changes, "id", &type_id, NULL, &p->id);
    audit_log_add_typed_change_to_list(call, &n->changes, "type", &type_count, NULL, &p->type);
    audit_log_add_typed_change_to_list(call, &n->changes, "title", &type_text, NULL, &p->title);
    audit_log_add_typed_change_to_list(call, &n->changes, "options", &type_onboarding_options, NULL,
                                       &p->options);
    audit_log_add_typed_change_to_list(call, &n->changes, "single_select", &type_bool, NULL,
                                       &p->single_select);
    audit_log_add_typed_change_to_list(call, &n->changes, "required", &type_bool, NULL,
                                       &p->required);
    audit_log_add_typed_change_to_list(call, &n->changes, "in_onboarding", &type_bool, NULL,
                                       &p->in_onboarding);
}

static bool prompts_differ(struct call *call, const struct onboarding_prompt *a,
                           const struct onboarding_prompt *b)
{
    return !str_eq(json_column_encode(call->arena, &type_onboarding_prompt, a),
                   json_column_encode(call->arena, &type_onboarding_prompt, b));
}

static void add_prompt_audit_entries(struct call *call, struct onboarding_change_state *w)
{
    const struct onboarding_prompt *now = w->now.prompts.items, *was = w->before.prompts.items;
    struct list current_ids = { 0 };

    for (size_t i = 0; i < w->now.prompts.count; i++) {
        const struct onboarding_prompt *before = find_previous_prompt(w, now[i].id);

        id_list_add(call->arena, &current_ids, now[i].id);
        if (!before)
            add_prompt_create_entry(call, w, &now[i]);
        else if (prompts_differ(call, before, &now[i]))
            add_onboarding_audit_entry(call, w, AUDIT_ONBOARDING_PROMPT_UPDATE, now[i].id);
    }
    for (size_t i = 0; i < w->before.prompts.count; i++)
        if (!id_list_contains(&current_ids, was[i].id))
            add_onboarding_audit_entry(call, w, AUDIT_ONBOARDING_PROMPT_DELETE, was[i].id);
}

/* --- the stages ----------------------------------------------------------------------- */

static enum err read_onboarding_state(struct call *call)
{
    struct onboarding_change_state *w = call_get_stage_data(call, "onboarding_change_state");
    snowflake guild_id = call->target.guild->id;
    const struct role *everyone;

    *w = (struct onboarding_change_state){ .standing = *call->target.member_access };
    enum err e = onboarding_find(call->tx, guild_id, &w->before);
    if (!e)
        e = read_guild_roles_and_channels(call->tx, guild_id, &w->positions);
    if (!e)
        e = guild_emojis_list(call->tx, guild_id, &w->emojis);
    everyone = e ? NULL : find_guild_role_by_id(&w->positions, guild_id);
    w->everyone = everyone ? everyone->permissions : 0;
    return e;
}

static enum err apply_onboarding_change(struct call *call, struct onboarding_change_state *w)
{
    const struct onboarding_put_body *in = call->body;
    struct json_path channels = json_path_key(NULL, STR("default_channel_ids"));
    enum err e = OK;

    w->now = w->before;
    if (in->enabled.given == GIVEN)
        w->now.enabled = in->enabled.value;
    if (in->mode.given == GIVEN)
        w->now.mode = in->mode.value;
    if (in->default_channel_ids.given == GIVEN) {
        w->now.default_channel_ids = in->default_channel_ids.value;
        check_onboarding_channel_ids(call, w, &w->now.default_channel_ids, &channels);
    }
    if (in->prompts.given == GIVEN)
        e = check_onboarding_prompts(call, w);
    return e || !form_has_errors(&call->form) ? e : ERR_INVALID_FORM_BODY;
}

static enum err compute_onboarding_change(struct call *call)
{
    struct onboarding_change_state *w = call_get_stage_data(call, "onboarding_change_state");
    bool known = w->before.version != 0;

    onboarding_remove_deleted_ids(&w->before, &w->positions);
    enum err e = apply_onboarding_change(call, w);
    if (e)
        return e;
    if (w->now.enabled && !meets_channel_requirements(call, w))
        return w->before.enabled ? ERR_ONBOARDING_BELOW : ERR_ONBOARDING_NEEDS;
    add_prompt_audit_entries(call, w);
    add_onboarding_audit_entry(call, w, known ? AUDIT_ONBOARDING_UPDATE : AUDIT_ONBOARDING_CREATE,
                               w->now.guild_id);
    w->prompts = json_column_encode(call->arena, &type_onboarding_prompts, &w->now.prompts);
    w->channels = json_column_encode(call->arena, &type_ids, &w->now.default_channel_ids);
    w->reply = json_column_encode(call->arena, &type_onboarding, &w->now);
    return OK;
}

enum err schedule_computing_onboarding_change(struct call *call)
{
    call_store_stage_data(call, "onboarding_change_state", sizeof(struct onboarding_change_state));
    call->read = read_onboarding_state;
    call->compute = compute_onboarding_change;
    return OK;
}

/* PUT /guilds/{guild.id}/onboarding */
enum err put_onboarding(struct call *call)
{
    struct onboarding_change_state *w = call_get_stage_data(call, "onboarding_change_state");
    const struct onboarding_audit_entry *n = w->audit.items;
    int64_t version;
    enum err e = onboarding_read_version(call->tx, w->now.guild_id, &version);

    if (!e && version != w->before.version)
        return call_restart_at_read_stage(call);
    w->now.version = (int64_t)snowflake_new();
    if (!e)
        e = onboarding_save(call->tx, &w->now, w->prompts, w->channels);
    for (size_t i = 0; !e && i < w->audit.count; i++)
        e = audit_log_record_changes(call, w->now.guild_id, n[i].action, n[i].target, NULL,
                                     n[i].changes);
    if (!e && w->now.enabled != w->before.enabled)
        e = guild_set_feature_and_emit(call, w->now.guild_id, "GUILD_ONBOARDING", w->now.enabled);
    if (e)
        return e;
    struct json_writer j = call_get_reply_json_writer(call);
    json_write_raw(&j, w->reply);
    return OK;
}
