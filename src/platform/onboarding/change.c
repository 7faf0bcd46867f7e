/* change.c - PUT /guilds/{guild.id}/onboarding. A read transaction reads the current state, the
 * thread pool validates and encodes, and the write transaction only writes. If the version has
 * changed in the meantime, all stages run again. */
#include "base/emoji.h"
#include "base/mem.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/emojis/emojis.h"
#include "platform/onboarding/internal.h"

struct onboarding_work {
    struct onboarding before, now;
    struct guild_places places;
    struct list emojis; /* struct emoji: all emojis of the guild */
    struct standing standing;
    uint64_t everyone; /* permissions of @everyone */
    struct str prompts, channels, reply;
    struct list audit; /* struct onboarding_note */
};
struct onboarding_note {
    enum audit_action action;
    snowflake target;
    struct list changes; /* struct audit_change */
};

/* --- checks --------------------------------------------------------------------------- */

/* Checks that the roles exist and that the caller may assign them. */
static enum err check_option_roles(struct call *call, const struct onboarding_work *w,
                                   const struct list *ids, const struct place *all)
{
    const snowflake *id = ids->items;

    for (size_t i = 0; i < ids->count; i++) {
        const struct role *role = places_role(&w->places, id[i]);
        struct place at = place_index(all, i);

        if (!role || role->managed || role->id == w->now.guild_id)
            form_fail(&call->form, &at, FORM_CHOICES, "Value must be a role that can be assigned.");
        else if (!standing_above_role(&w->standing, role))
            return ERR_MISSING_PERMISSIONS;
    }
    return OK;
}

static void check_channels(struct call *call, const struct onboarding_work *w,
                           const struct list *ids, const struct place *all)
{
    const snowflake *id = ids->items;

    for (size_t i = 0; i < ids->count; i++) {
        const struct channel *c = places_channel(&w->places, id[i]);
        struct place at = place_index(all, i);

        if (!c || c->type == CHANNEL_CATEGORY)
            form_fail(&call->form, &at, FORM_CHOICES, "Value must be a channel of the guild.");
    }
}

static const struct emoji *find_guild_emoji(const struct onboarding_work *w, snowflake id)
{
    const struct emoji *e = w->emojis.items;

    for (size_t i = 0; i < w->emojis.count; i++)
        if (e[i].id == id)
            return &e[i];
    return NULL;
}

static void take_option_emoji(struct call *call, const struct onboarding_work *w,
                              struct onboarding_option *o, const struct place *here)
{
    struct option_emoji *out = arena_alloc(call->arena, sizeof *out);
    struct place id_at = place_key(here, STR("emoji_id")),
                 name_at = place_key(here, STR("emoji_name"));
    const struct emoji *e;

    *out = (struct option_emoji){ .id.given = GIVEN_NULL, .name.given = GIVEN_NULL };
    o->emoji = out;
    if (o->emoji_id.given == GIVEN) {
        e = find_guild_emoji(w, o->emoji_id.value);
        if (!e) {
            form_fail(&call->form, &id_at, FORM_CHOICES, "Value must be an emoji of the guild.");
            return;
        }
        *out = (struct option_emoji){ given_id(e->id), given_str(e->name), e->animated };
    } else if (o->emoji_name.given == GIVEN && o->emoji_name.value.n) {
        if (!is_emoji(o->emoji_name.value))
            form_fail(&call->form, &name_at, FORM_CHOICES, "Not an emoji.");
        out->name = o->emoji_name;
    }
}

/* --- ids ------------------------------------------------------------------------------ */

static const struct onboarding_prompt *prompt_before(const struct onboarding_work *w, snowflake id)
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

/* Returns a known and unused id, else a new one: clients send arbitrary ids for new objects. */
static snowflake settle_id(struct call *call, struct list *seen, snowflake id, bool known)
{
    snowflake settled = known && !ids_hold(seen, id) ? id : snowflake_new();

    ids_add(call->arena, seen, settled);
    return settled;
}

static enum err take_option(struct call *call, const struct onboarding_work *w,
                            struct onboarding_option *o, const struct place *here)
{
    struct place roles = place_key(here, STR("role_ids")),
                 channels = place_key(here, STR("channel_ids"));

    if (o->given_description.given == GIVEN)
        o->description = o->given_description.value;
    else
        o->description = STR("");
    take_option_emoji(call, w, o, here);
    check_channels(call, w, &o->channel_ids, &channels);
    return check_option_roles(call, w, &o->role_ids, &roles);
}

static enum err take_prompt(struct call *call, struct onboarding_work *w,
                            struct onboarding_prompt *p, struct list *seen,
                            const struct place *here)
{
    const struct onboarding_prompt *before = prompt_before(w, p->id);
    struct onboarding_option *o = p->options.items;
    struct place all = place_key(here, STR("options"));
    struct list options_seen = { 0 };
    enum err e = OK;

    p->id = settle_id(call, seen, p->id, before != NULL);
    for (size_t i = 0; !e && i < p->options.count; i++) {
        struct place at = place_index(&all, i);
        snowflake id = o[i].given_id.value;

        o[i].id = settle_id(call, &options_seen, id,
                            o[i].given_id.given == GIVEN && prompt_has_option(before, id));
        e = take_option(call, w, &o[i], &at);
    }
    return e;
}

/* Copies the prompts, because this stage may run again with the same body. */
static struct list copy_prompts(struct arena *arena, const struct list *prompts)
{
    const struct onboarding_prompt *p = prompts->items;
    struct list out = { 0 };

    for (size_t i = 0; i < prompts->count; i++) {
        struct onboarding_prompt *copy = list_add(arena, &out, sizeof *copy);
        const struct onboarding_option *o = p[i].options.items;

        *copy = p[i];
        copy->options = (struct list){ 0 };
        for (size_t k = 0; k < p[i].options.count; k++)
            *(struct onboarding_option *)list_add(arena, &copy->options, sizeof *o) = o[k];
    }
    return out;
}

static enum err take_prompts(struct call *call, struct onboarding_work *w)
{
    const struct onboarding_change *in = call->body;
    struct place all = place_key(NULL, STR("prompts"));
    struct list seen = { 0 };
    enum err e = OK;

    w->now.prompts = copy_prompts(call->arena, &in->prompts.value);
    struct onboarding_prompt *p = w->now.prompts.items;
    for (size_t i = 0; !e && i < w->now.prompts.count; i++) {
        struct place at = place_index(&all, i);

        e = take_prompt(call, w, &p[i], &seen, &at);
    }
    return e;
}

/* --- requirements for enabling -------------------------------------------------------- */

static void add_option_channels(struct arena *arena, const struct onboarding *o, struct list *ret)
{
    const struct onboarding_prompt *p = o->prompts.items;

    for (size_t i = 0; i < o->prompts.count; i++) {
        const struct onboarding_option *option = p[i].options.items;

        for (size_t k = 0; k < p[i].options.count; k++) {
            const snowflake *id = option[k].channel_ids.items;

            for (size_t n = 0; n < option[k].channel_ids.count; n++)
                if (!ids_hold(ret, id[n]))
                    ids_add(arena, ret, id[n]);
        }
    }
}

/* Checks that new members see enough channels and can write in most of them. */
static bool meets_needs(struct call *call, const struct onboarding_work *w)
{
    const uint64_t writing = PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES);
    const struct rights_of everyone = { .guild_id = w->now.guild_id, .base = w->everyone };
    const snowflake *id = w->now.default_channel_ids.items;
    struct list counted = { 0 };
    size_t seen = 0, writable = 0;

    for (size_t i = 0; i < w->now.default_channel_ids.count; i++)
        if (!ids_hold(&counted, id[i]))
            ids_add(call->arena, &counted, id[i]);
    if (w->now.mode == ONBOARDING_ADVANCED)
        add_option_channels(call->arena, &w->now, &counted);
    id = counted.items;
    for (size_t i = 0; i < counted.count; i++) {
        const struct channel *c = places_channel(&w->places, id[i]);
        const struct list *o = c ? &c->permission_overwrites.value : NULL;
        uint64_t rights = c ? rights_in_channel(&everyone, c->type, o->items, o->count, false) : 0;

        seen += c != NULL;
        writable += (rights & writing) == writing;
    }
    return seen >= NEEDED_CHANNELS && writable >= NEEDED_WRITABLE;
}

/* --- audit log ------------------------------------------------------------------------ */

static void onboarding_note_add(struct call *call, struct onboarding_work *w,
                                enum audit_action action, snowflake target)
{
    *(struct onboarding_note *)list_add(call->arena, &w->audit, sizeof(struct onboarding_note)) =
        (struct onboarding_note){ .action = action, .target = target };
}

/* Adds the audit entry of a new prompt with all fields, which client libraries need. */
static void note_new_prompt(struct call *call, struct onboarding_work *w,
                            const struct onboarding_prompt *p)
{
    struct onboarding_note *n = list_add(call->arena, &w->audit, sizeof *n);

    *n = (struct onboarding_note){ .action = AUDIT_ONBOARDING_PROMPT_CREATE, .target = p->id };
    audit_add_values(call, &n->changes, "id", &type_id, NULL, &p->id);
    audit_add_values(call, &n->changes, "type", &type_count, NULL, &p->type);
    audit_add_values(call, &n->changes, "title", &type_text, NULL, &p->title);
    audit_add_values(call, &n->changes, "options", &type_onboarding_options, NULL, &p->options);
    audit_add_values(call, &n->changes, "single_select", &type_bool, NULL, &p->single_select);
    audit_add_values(call, &n->changes, "required", &type_bool, NULL, &p->required);
    audit_add_values(call, &n->changes, "in_onboarding", &type_bool, NULL, &p->in_onboarding);
}

static bool prompts_differ(struct call *call, const struct onboarding_prompt *a,
                           const struct onboarding_prompt *b)
{
    return !str_eq(column_encode(call->arena, &type_onboarding_prompt, a),
                   column_encode(call->arena, &type_onboarding_prompt, b));
}

static void note_prompts(struct call *call, struct onboarding_work *w)
{
    const struct onboarding_prompt *now = w->now.prompts.items, *was = w->before.prompts.items;
    struct list kept = { 0 };

    for (size_t i = 0; i < w->now.prompts.count; i++) {
        const struct onboarding_prompt *before = prompt_before(w, now[i].id);

        ids_add(call->arena, &kept, now[i].id);
        if (!before)
            note_new_prompt(call, w, &now[i]);
        else if (prompts_differ(call, before, &now[i]))
            onboarding_note_add(call, w, AUDIT_ONBOARDING_PROMPT_UPDATE, now[i].id);
    }
    for (size_t i = 0; i < w->before.prompts.count; i++)
        if (!ids_hold(&kept, was[i].id))
            onboarding_note_add(call, w, AUDIT_ONBOARDING_PROMPT_DELETE, was[i].id);
}

/* --- the stages ----------------------------------------------------------------------- */

static enum err look_at_onboarding(struct call *call)
{
    struct onboarding_work *w = call_passed(call, "onboarding_work");
    snowflake guild_id = call->target.guild->id;
    const struct role *everyone;

    *w = (struct onboarding_work){ .standing = *call->target.standing };
    enum err e = onboarding_find(call->tx, guild_id, &w->before);
    if (!e)
        e = guild_places(call->tx, guild_id, &w->places);
    if (!e)
        e = guild_emojis(call->tx, guild_id, &w->emojis);
    everyone = e ? NULL : places_role(&w->places, guild_id);
    w->everyone = everyone ? everyone->permissions : 0;
    return e;
}

static enum err take_change(struct call *call, struct onboarding_work *w)
{
    const struct onboarding_change *in = call->body;
    struct place channels = place_key(NULL, STR("default_channel_ids"));
    enum err e = OK;

    w->now = w->before;
    if (in->enabled.given == GIVEN)
        w->now.enabled = in->enabled.value;
    if (in->mode.given == GIVEN)
        w->now.mode = in->mode.value;
    if (in->default_channel_ids.given == GIVEN) {
        w->now.default_channel_ids = in->default_channel_ids.value;
        check_channels(call, w, &w->now.default_channel_ids, &channels);
    }
    if (in->prompts.given == GIVEN)
        e = take_prompts(call, w);
    return e || !form_failed(&call->form) ? e : ERR_INVALID_FORM_BODY;
}

static enum err compute_onboarding(struct call *call)
{
    struct onboarding_work *w = call_passed(call, "onboarding_work");
    bool known = w->before.version != 0;

    onboarding_prune(&w->before, &w->places);
    enum err e = take_change(call, w);
    if (e)
        return e;
    if (w->now.enabled && !meets_needs(call, w))
        return w->before.enabled ? ERR_ONBOARDING_BELOW : ERR_ONBOARDING_NEEDS;
    note_prompts(call, w);
    onboarding_note_add(call, w, known ? AUDIT_ONBOARDING_UPDATE : AUDIT_ONBOARDING_CREATE,
                        w->now.guild_id);
    w->prompts = column_encode(call->arena, &type_onboarding_prompts, &w->now.prompts);
    w->channels = column_encode(call->arena, &type_ids, &w->now.default_channel_ids);
    w->reply = column_encode(call->arena, &type_onboarding, &w->now);
    return OK;
}

enum err prepare_put_onboarding(struct call *call)
{
    call_pass(call, "onboarding_work", sizeof(struct onboarding_work));
    call->look = look_at_onboarding;
    call->compute = compute_onboarding;
    return OK;
}

/* PUT /guilds/{guild.id}/onboarding */
enum err put_onboarding(struct call *call)
{
    struct onboarding_work *w = call_passed(call, "onboarding_work");
    const struct onboarding_note *n = w->audit.items;
    int64_t version;
    enum err e = onboarding_version(call->tx, w->now.guild_id, &version);

    if (!e && version != w->before.version)
        return call_look_again(call);
    w->now.version = (int64_t)snowflake_new();
    if (!e)
        e = onboarding_save(call->tx, &w->now, w->prompts, w->channels);
    for (size_t i = 0; !e && i < w->audit.count; i++)
        e = audit_with(call, w->now.guild_id, n[i].action, n[i].target, NULL, n[i].changes);
    if (!e && w->now.enabled != w->before.enabled)
        e = guild_turn_feature(call, w->now.guild_id, "GUILD_ONBOARDING", w->now.enabled);
    if (e)
        return e;
    struct json j = call_reply_json(call);
    json_raw(&j, w->reply);
    return OK;
}
