/* register.c - one command: made, changed, deleted. */
#include "commands/internal.h"

#include "commands/form.h"
#include "platform/applications/applications.h"

static snowflake scope_of(const struct call *call)
{
    return call->target.guild ? call->target.guild->id : 0;
}

/* --- what the application says -------------------------------------------------------- */

/* Installation contexts of a global command: among the application's, all of them by
 * default. */
enum err command_fit(struct form *form, const struct place *here, const struct application *a,
                     struct command *k, const struct command_patch *in)
{
    const int64_t *types = in->integration_types.value.items;
    struct place all = place_key(here, STR("integration_types"));

    for (size_t i = 0; i < in->integration_types.value.count; i++) {
        struct place at = place_index(&all, i);

        if (!application_installs(a, (enum integration_type)types[i]))
            form_fail(form, &at, FORM_INSTALL_TYPE);
    }
    if (form_failed_at(form, &all))
        return ERR_INVALID_FORM_BODY;
    if (k->integration_types.given == GIVEN || k->guild_id.given == GIVEN)
        return OK;
    k->integration_types.given = GIVEN;
    for (int64_t t = INSTALL_GUILD; t <= INSTALL_USER; t++)
        if (application_installs(a, (enum integration_type)t))
            *(int64_t *)list_add(form->arena, &k->integration_types.value, sizeof t) = t;
    return OK;
}

/* --- making and replacing ------------------------------------------------------------- */

static enum err add(struct call *call, struct command *k)
{
    snowflake guild_id = scope_of(call);

    k->id = k->version = snowflake_new();
    enum err e = commands_check_room(call->tx, k->application_id, guild_id, k->type);
    if (!e)
        e = count_creates(call->tx, k->application_id, guild_id, &k->id, 1);
    if (!e)
        e = command_insert(call->tx, k, &call->form, NULL);
    if (!e)
        e = commands_changed(call, call->target.application, guild_id);
    call_set_status(call, 201);
    return e ? e : call_reply(call, k);
}

/* Writes a command over the one that is there, unless they are the same; a guild is told of
 * that, too, with `always`. */
static enum err replace(struct call *call, struct command *k, const struct command_row *row,
                        bool always)
{
    enum err e = OK;

    k->id = row->id;
    k->version = row->version;
    if (command_is_kept(call->arena, k, row)) {
        if (always && row->guild_id)
            commands_tell_guild(call, row->guild_id);
        return call_reply(call, k);
    }
    k->version = snowflake_new();
    if (!str_eq(k->name, row->name))
        e = permissions_drop(call, row, true);
    if (!e)
        e = command_update(call->tx, k, &call->form, NULL);
    if (!e)
        e = commands_changed(call, call->target.application, row->guild_id);
    return e ? e : call_reply(call, k);
}

/* POST …/commands: a name that is taken is written over. */
enum err create_command(struct call *call)
{
    struct command k = command_blank(scope_of(call));
    struct command_row row;
    bool found;

    k.application_id = call->target.application->id;
    command_apply(call->arena, &k, call->body);
    command_tidy(call->arena, &k);
    enum err e = command_fit(&call->form, NULL, call->target.application, &k, call->body);
    if (!e)
        e = command_row_find(call->tx, k.application_id, scope_of(call), k.type, k.name, &row,
                             &found);
    if (e)
        return e;
    return found ? replace(call, &k, &row, false) : add(call, &k);
}

/* PATCH …/commands/{command.id} */
enum err modify_command(struct call *call)
{
    struct command *k = call->target.command;
    struct command_row old, other;
    bool found;

    enum err e = command_row_find(call->tx, k->application_id, scope_of(call), k->type, k->name,
                                  &old, &found);
    if (e)
        return e;
    command_apply(call->arena, k, call->body);
    command_check(&call->form, NULL, k);
    if (form_failed(&call->form))
        return ERR_INVALID_FORM_BODY;
    command_tidy(call->arena, k);
    e = command_fit(&call->form, NULL, call->target.application, k, call->body);
    if (!e && !str_eq(k->name, old.name))
        e = command_row_find(call->tx, k->application_id, scope_of(call), k->type, k->name, &other,
                             &found);
    if (!e && !str_eq(k->name, old.name) && found)
        e = ERR_COMMAND_NAME_TAKEN;
    return e ? e : replace(call, k, &old, true);
}

/* DELETE …/commands/{command.id} */
enum err delete_command(struct call *call)
{
    const struct command *k = call->target.command;
    struct command_row row = { .id = k->id, .application_id = k->application_id };

    enum err e = permissions_drop(call, &row, false);
    if (!e)
        e = command_delete_row(call->tx, k->id);
    return e ? e : commands_changed(call, call->target.application, scope_of(call));
}
