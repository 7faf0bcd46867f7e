/* set_embedded.c - POST …/set-embedded: lets clients launch an application as an activity. */
#include "commands/internal.h"

#include "commands/index/index_invalidation.h"
#include "platform/applications/applications.h"

static const char FIND_ENTRY_POINT[] =
    "select id from commands where application_id = $1 and guild_id = 0 and type = 4";

/* Adds a default entry point command if the application has none. */
static enum err insert_default_entry_point(struct call *call)
{
    const struct application *a = call->target.application;
    struct command_patch none = { 0 };
    struct command k = new_empty_command(0);
    struct encoded_command texts;
    bool found;

    enum err e = tx_exists(call->tx, FIND_ENTRY_POINT, BIND(v_id(a->id)), &found);
    if (e || found)
        return e;
    k.id = k.version = snowflake_new();
    k.application_id = a->id;
    k.type = COMMAND_ENTRY_POINT;
    k.name = STR("launch");
    k.description = STR("Launch an activity");
    k.handler = opt_int_present(COMMAND_LAUNCH_ACTIVITY);
    normalize_command(call->arena, &k);
    e = check_command_install_types(&call->form, NULL, a, &k, &none);
    if (!e)
        e = encode_command(call->arena, &k, &call->form, NULL, &texts);
    return e ? e : insert_command(call->tx, &k, &texts);
}

static const char SET_FLAGS[] = "update applications set flags = $2 where id = $1";

/* POST /applications/{application.id}/set-embedded */
enum err set_embedded(struct call *call)
{
    const struct embedded_activity_body *in = call->body;
    struct application *a = call->target.application;
    int64_t flags = a->flags & ~(int64_t)APPLICATION_EMBEDDED;

    if (in->embedded)
        flags |= APPLICATION_EMBEDDED;
    if (flags == a->flags)
        return OK;
    a->flags = flags;
    enum err e = tx_exec(call->tx, SET_FLAGS, BIND(v_id(a->id), v_int(flags)), NULL);
    if (!e && in->embedded)
        e = insert_default_entry_point(call);
    return e ? e : update_command_bundle_and_emit_index_update(call, a, 0);
}
