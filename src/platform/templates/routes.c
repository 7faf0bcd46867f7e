/* routes.c - routes of guild templates: create, get, sync, modify, delete. */
#include <string.h>

#include "api/deletion.h"
#include "base/clock.h"
#include "platform/templates/internal.h"

/* --- bodies --------------------------------------------------------------------------- */

struct template_draft {
    struct opt_str name, description;
};

static const struct type type_template_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 100
};
static const struct type type_template_description = { .kind = KIND_STRING, .max = 120 };
#define DESCRIPTION                                                                    \
    {                                                                                  \
        FIELD(struct template_draft, description), .type = &type_template_description, \
                                                   .flags = OPTIONAL | NULLABLE        \
    }
static const struct field draft_fields[] = {
    { FIELD(struct template_draft, name), .type = &type_template_name },
    DESCRIPTION,
    { 0 },
};
static const struct field patch_fields[] = {
    { FIELD(struct template_draft, name), .type = &type_template_name, .flags = OPTIONAL },
    DESCRIPTION,
    { 0 },
};
static const struct schema draft_schema = {
    .name = "GuildTemplateDraft",
    .size = sizeof(struct template_draft),
    .fields = draft_fields,
    .doc = "Name and description of a template.",
};
static const struct schema patch_schema = {
    .name = "GuildTemplatePatch",
    .size = sizeof(struct template_draft),
    .fields = patch_fields,
    .doc = "Fields of a template to change.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

/* --- shared by the handlers ----------------------------------------------------------- */

/* A template, and the current state of its source guild. */
struct template_state {
    struct guild_template template;
    struct template_source_guild source;
    struct encoded_source_guild text;
};

static enum err read_template_and_current_guild(struct call *call, struct template_state *w)
{
    struct guild_template *t = &w->template;
    enum err e = template_read_creator_and_serialized_guild(call->tx, t);

    if (!e)
        e = template_source_guild_read(call->tx, t->source_guild_id, &w->source);
    if (e)
        return e;
    template_source_guild_encode(call->arena, &w->source, &w->text);
    bool same =
        t->digest.n == TEMPLATE_DIGEST && !memcmp(t->digest.p, w->text.digest, TEMPLATE_DIGEST);
    t->is_dirty = (struct opt_bool){ same ? GIVEN_NULL : GIVEN, !same };
    return OK;
}

static enum err read_template_of_path(struct call *call, struct guild_template *ret)
{
    enum err e = template_find(call->tx, call_get_path_text(call, "template.code"), ret);

    return e || ret->source_guild_id == call->target.guild->id ? e : ERR_UNKNOWN_TEMPLATE;
}

static void apply_template_draft(const struct template_draft *in, struct guild_template *t)
{
    if (in->name.given == GIVEN)
        t->name = in->name.value;
    if (in->description.given != ABSENT)
        t->description = in->description;
    t->updated_at = clock_us();
}

/* --- reading -------------------------------------------------------------------------- */

/* GET /guilds/templates/{template.code} */
static enum err get_guild_template(struct call *call)
{
    struct template_state w;
    enum err e = template_find(call->tx, call_get_path_text(call, "template.code"), &w.template);

    if (!e)
        e = read_template_and_current_guild(call, &w);
    return e ? e : call_reply_with_object_of_type(call, &type_stored_template, &w.template);
}

/* GET /guilds/{guild.id}/templates */
static enum err list_guild_templates(struct call *call)
{
    struct template_state w;
    bool found;
    enum err e = template_find_of_guild(call->tx, call->target.guild->id, &w.template, &found);

    if (!e && found)
        e = read_template_and_current_guild(call, &w);
    return e ? e
             : call_reply_with_object_of_type(call, &type_stored_templates,
                                              &(struct list){ &w.template, found });
}

/* --- writing -------------------------------------------------------------------------- */

/* Encodes and compresses the guild. Runs on the thread pool between the read and the write
 * transaction. */
static enum err compress_source_guild(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    struct guild_template *t = &w->template;

    template_source_guild_encode(call->arena, &w->source, &w->text);
    t->serialized_source_guild = w->text.json;
    t->size = (int64_t)w->text.json.n;
    t->digest = str_slice((const char *)w->text.digest, TEMPLATE_DIGEST);
    t->packed = template_source_guild_compress(call->arena, w->text.json);
    return t->packed.p && !arena_has_lost_data(call->arena) ? OK : ERR_ENTITY_TOO_LARGE;
}

static enum err read_guild_for_new_template(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    snowflake guild_id = call->target.guild->id;
    bool found;
    enum err e = template_find_of_guild(call->tx, guild_id, &w->template, &found);

    if (e || found)
        return e ? e : ERR_HAS_TEMPLATE;
    return template_source_guild_read(call->tx, guild_id, &w->source);
}

static enum err schedule_compression_of_new_template(struct call *call)
{
    call_store_stage_data(call, "template_state", sizeof(struct template_state));
    call->read = read_guild_for_new_template;
    call->compute = compress_source_guild;
    return OK;
}

static enum err read_template_creator(struct call *call, struct guild_template *t)
{
    struct user *creator = arena_alloc(call->arena, sizeof *creator);

    t->creator = creator;
    return user_find(call->tx, t->creator_id, creator);
}

/* POST /guilds/{guild.id}/templates */
static enum err create_guild_template(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    struct guild_template *t = &w->template;

    apply_template_draft(call->body, t);
    t->created_at = t->updated_at;
    t->creator_id = call->caller->id;
    t->source_guild_id = call->target.guild->id;
    t->is_dirty.given = GIVEN_NULL;
    enum err e = read_template_creator(call, t);
    if (!e)
        e = template_insert(call->tx, t);
    return e ? e : call_reply_with_object_of_type(call, &type_stored_template, t);
}

static enum err read_template_for_sync(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    enum err e = read_template_of_path(call, &w->template);

    return e ? e : template_source_guild_read(call->tx, call->target.guild->id, &w->source);
}

static enum err schedule_compression_for_sync(struct call *call)
{
    call_store_stage_data(call, "template_state", sizeof(struct template_state));
    call->read = read_template_for_sync;
    call->compute = compress_source_guild;
    return OK;
}

/* PUT /guilds/{guild.id}/templates/{template.code} */
static enum err sync_guild_template(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    struct guild_template *t = &w->template;
    enum err e = template_reread_fields_except_guild(call->tx, t);

    t->updated_at = clock_us();
    t->is_dirty.given = GIVEN_NULL;
    if (!e)
        e = template_save_serialized_guild(call->tx, t);
    if (!e)
        e = read_template_creator(call, t);
    if (e == ERR_UNKNOWN_USER) {
        t->creator = NULL;
        e = OK;
    }
    return e ? e : call_reply_with_object_of_type(call, &type_stored_template, t);
}

static enum err read_template_and_source(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    enum err e = read_template_of_path(call, &w->template);

    return e ? e : read_template_and_current_guild(call, w);
}

static enum err schedule_template_and_source_read(struct call *call)
{
    call_store_stage_data(call, "template_state", sizeof(struct template_state));
    call->read = read_template_and_source;
    return OK;
}

/* PATCH /guilds/{guild.id}/templates/{template.code} */
static enum err modify_guild_template(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    enum err e = template_reread_fields_except_guild(call->tx, &w->template);

    if (e)
        return e;
    apply_template_draft(call->body, &w->template);
    e = template_save_fields(call->tx, &w->template);
    return e ? e : call_reply_with_object_of_type(call, &type_stored_template, &w->template);
}

/* DELETE /guilds/{guild.id}/templates/{template.code} */
static enum err delete_guild_template(struct call *call)
{
    struct template_state *w = call_get_stage_data(call, "template_state");
    enum err e = template_reread_fields_except_guild(call->tx, &w->template);

    if (!e)
        e = template_delete(call->tx, w->template.code);
    return e ? e : call_reply_with_object_of_type(call, &type_stored_template, &w->template);
}

/* --- route table ---------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
    { .name = "template.code", .field = "code", .is_text = true, .doc = "A template's code." },
    { 0 },
};

/* Rate limits of template routes. They are low, because a template may have several megabytes and
 * each call compares it with its guild. */
static const struct rate_limit limit_templates = { .name = "templates",
                                                   .count = 10,
                                                   .window_s = 10 };
static const struct rate_limit limit_template_use = { .name = "template-use",
                                                      .count = 5,
                                                      .window_s = 60 };

#define TEMPLATES_PATH "/guilds/{guild.id}/templates"

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/templates/{template.code}",
        .name = "get_guild_template",
        .doc = "A template, for everyone who knows its code.",
        .auth = AUTH_OPEN,
        .reply = &type_guild_template,
        .background = true,
        .limit = &limit_templates,
        .handle = get_guild_template,
    },
    {
        .method = POST,
        .path = "/guilds/templates/{template.code}",
        .name = "use_template",
        .doc = "Create a guild from a template, with the same "
               "settings, roles and channels, without pictures and emoji.",
        .auth = AUTH_USER,
        .body = &template_guild_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_guild,
        .status = 201,
        .fires = (const enum event[]){ EVENT_GUILD_CREATE, EVENT_NONE },
        .background = true,
        .limit = &limit_template_use,
        .prepare = schedule_guild_creation_from_template,
        .handle = use_template,
    },
    {
        .method = GET,
        .path = TEMPLATES_PATH,
        .name = "list_guild_templates",
        .doc = "The guild's template, if it has one.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &type_guild_templates,
        .background = true,
        .limit = &limit_templates,
        .handle = list_guild_templates,
    },
    {
        .method = POST,
        .path = TEMPLATES_PATH,
        .name = "create_guild_template",
        .doc = "Create a template from the guild. A guild has at most one template.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &draft_body,
        .reply = &type_guild_template,
        .background = true,
        .limit = &limit_templates,
        .prepare = schedule_compression_of_new_template,
        .handle = create_guild_template,
    },
    {
        .method = PUT,
        .path = TEMPLATES_PATH "/{template.code}",
        .name = "sync_guild_template",
        .doc = "Bring a template up to date with the guild.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &type_guild_template,
        .background = true,
        .limit = &limit_templates,
        .prepare = schedule_compression_for_sync,
        .handle = sync_guild_template,
    },
    {
        .method = PATCH,
        .path = TEMPLATES_PATH "/{template.code}",
        .name = "modify_guild_template",
        .doc = "Change the name or description of a template.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &patch_body,
        .reply = &type_guild_template,
        .background = true,
        .limit = &limit_templates,
        .prepare = schedule_template_and_source_read,
        .handle = modify_guild_template,
    },
    {
        .method = DELETE,
        .path = TEMPLATES_PATH "/{template.code}",
        .name = "delete_guild_template",
        .doc = "Delete a template; the reply is the deleted template.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &type_guild_template,
        .background = true,
        .limit = &limit_templates,
        .prepare = schedule_template_and_source_read,
        .handle = delete_guild_template,
    },
    { 0 },
};

const struct domain templates_domain = {
    .name = "Templates",
    .doc = "Templates of guilds, from which new guilds are created.",
    .routes = routes,
    .world = &templates_world,
    .resolvers = resolvers,
    .deletions =
        (const struct deletion_rule[]){ { DELETE_FEW(WITH_GUILD, "guild_templates", "guild_id") },
                                        { 0 } },
};
