/* create_command.c - creates, modifies and deletes one command. */
#include "commands/internal.h"

#include "commands/form_errors.h"
#include "commands/permissions/permission_deletion.h"
#include "platform/applications/applications.h"

static snowflake guild_id_of_command_scope(const struct call *call)
{
    return call->target.guild ? call->target.guild->id : 0;
}

/* Checks that the application supports the installation contexts of the command. A command without
 * installation contexts gets those of the application. */
enum err check_command_install_types(struct form *form, const struct json_path *here,
                                     const struct application *a, struct command *k,
                                     const struct command_patch *in)
{
    const int64_t *types = in->integration_types.value.items;
    struct json_path all = json_path_key(here, STR("integration_types"));

    for (size_t i = 0; i < in->integration_types.value.count; i++) {
        struct json_path at = json_path_index(&all, i);

        if (!application_can_be_installed(a, (enum integration_type)types[i]))
            form_add_error(form, &at, FORM_INSTALL_TYPE);
    }
    if (form_has_error_at_path(form, &all))
        return ERR_INVALID_FORM_BODY;
    if (k->integration_types.given == GIVEN || k->guild_id.given == GIVEN)
        return OK;
    k->integration_types.given = GIVEN;
    for (int64_t t = INSTALL_GUILD; t <= INSTALL_USER; t++)
        if (application_can_be_installed(a, (enum integration_type)t))
            *(int64_t *)list_append(form->arena, &k->integration_types.value, sizeof t) = t;
    return OK;
}

/* --- building the draft --------------------------------------------------------------- */

static struct prepared_command *new_draft_of_single_command(struct call *call,
                                                            struct prepared_command_change *d)
{
    d->items = arena_alloc(call->arena, sizeof *d->items);
    d->count = 1;
    d->items->old = d->rows.count ? d->rows.items : NULL;
    return d->items;
}

/* Reads the stored command that has the name and type in the request body. */
static enum err read_row_with_requested_name(struct call *call, bool whole, struct list *ret)
{
    const struct command_patch *in = call->body;
    struct command k = new_empty_command(guild_id_of_command_scope(call));

    apply_command_patch(call->arena, &k,
                        &(struct command_patch){ .type = in->type, .name = in->name });
    normalize_command(call->arena, &k);
    return read_command_rows_by_name(call->tx, call->target.application->id,
                                     guild_id_of_command_scope(call), k.type, k.name, whole, ret);
}

static enum err build_new_command(struct call *call, struct prepared_command_change *d)
{
    struct prepared_command *draft = new_draft_of_single_command(call, d);
    struct command *k = &draft->command;

    *k = new_empty_command(guild_id_of_command_scope(call));
    k->application_id = call->target.application->id;
    apply_command_patch(call->arena, k, call->body);
    normalize_command(call->arena, k);
    enum err e =
        check_command_install_types(&call->form, NULL, call->target.application, k, call->body);
    return e ? e : prepared_command_set_id_and_encode(call, draft, NULL);
}

static enum err read_row_of_target_command(struct call *call, bool whole, struct list *ret)
{
    return read_command_row_by_id(call->tx, call->target.command->id, whole, ret);
}

static enum err build_modified_command(struct call *call, struct prepared_command_change *d)
{
    struct prepared_command *draft = new_draft_of_single_command(call, d);
    struct command *k = &draft->command;

    enum err e = draft->old ? decode_command_definition(call->arena, draft->old->definition, k)
                            : ERR_UNKNOWN_COMMAND;
    if (e)
        return e;
    apply_command_patch(call->arena, k, call->body);
    validate_command(&call->form, NULL, k);
    if (form_has_errors(&call->form))
        return ERR_INVALID_FORM_BODY;
    normalize_command(call->arena, k);
    e = check_command_install_types(&call->form, NULL, call->target.application, k, call->body);
    return e ? e : prepared_command_set_id_and_encode(call, draft, NULL);
}

enum err prepare_create_command(struct call *call)
{
    static const struct command_change_callbacks change = { read_row_with_requested_name,
                                                            build_new_command };

    prepare_command_change(call, &change, false);
    return count_command_write_against_rate_limit(call);
}

/* Requests the READ stage (a read transaction before the write) in any case, because the stored
 * command can be long even if the body is short. */
enum err prepare_modify_command(struct call *call)
{
    static const struct command_change_callbacks change = { read_row_of_target_command,
                                                            build_modified_command };

    prepare_command_change(call, &change, true);
    return count_command_write_against_rate_limit(call);
}

static enum err reply_with_command(struct call *call, const struct prepared_command *d)
{
    struct str text = build_command_reply_json(call->arena, &d->command, &d->texts);

    return call_reply_with_object_of_type(call, &type_raw, &text);
}

static enum err insert_new_command(struct call *call, const struct prepared_command *d)
{
    const struct command *k = &d->command;
    snowflake guild_id = guild_id_of_command_scope(call);

    enum err e = check_command_count_limit(call->tx, k->application_id, guild_id, k->type);
    if (!e)
        e = record_created_command_ids(call->tx, k->application_id, guild_id, &k->id, 1);
    if (!e)
        e = insert_command(call->tx, k, &d->texts);
    if (!e)
        e = update_command_bundle_and_emit_index_update(call, call->target.application, guild_id);
    call_set_status(call, 201);
    return e ? e : reply_with_command(call, d);
}

/* Updates a command if it has changed. If `always` is set, emits the index update event to the
 * guild even if the command has not changed. */
static enum err update_existing_command(struct call *call, const struct prepared_command *d,
                                        bool always)
{
    const struct command *k = &d->command;
    int64_t room = PERMISSION_DELETIONS_PER_STEP;
    enum err e = OK;

    if (!d->changed) {
        if (always && d->old->guild_id)
            emit_command_index_update(call, d->old->guild_id);
        return reply_with_command(call, d);
    }
    if (!str_eq(k->name, d->old->name))
        e = delete_command_permissions(call, d->old, true, &room);
    if (!e)
        e = update_command(call->tx, k, &d->texts);
    if (!e)
        e = update_command_bundle_and_emit_index_update(call, call->target.application,
                                                        d->old->guild_id);
    return e ? e : reply_with_command(call, d);
}

/* POST …/commands: creates a command, or replaces the command with the same name. */
enum err create_command(struct call *call)
{
    struct prepared_command_change *d;
    enum err e = finish_preparing_command_change(call, &d);

    if (e)
        return e;
    return d->items->old ? update_existing_command(call, d->items, false)
                         : insert_new_command(call, d->items);
}

/* PATCH …/commands/{command.id} */
enum err modify_command(struct call *call)
{
    struct prepared_command_change *d;
    struct list others = { 0 };
    enum err e = finish_preparing_command_change(call, &d);

    if (e)
        return e;
    const struct command *k = &d->items->command;
    if (!str_eq(k->name, d->items->old->name))
        e = read_command_rows_by_name(call->tx, k->application_id, guild_id_of_command_scope(call),
                                      k->type, k->name, false, &others);
    if (!e && others.count)
        e = ERR_COMMAND_NAME_TAKEN;
    return e ? e : update_existing_command(call, d->items, true);
}

/* DELETE …/commands/{command.id} */
enum err delete_command(struct call *call)
{
    const struct command *k = call->target.command;
    struct command_row row = { .id = k->id, .application_id = k->application_id };
    int64_t room = PERMISSION_DELETIONS_PER_STEP;

    enum err e = delete_command_permissions(call, &row, false, &room);
    if (!e)
        e = delete_command_row(call->tx, k->id);
    return e ? e
             : update_command_bundle_and_emit_index_update(call, call->target.application,
                                                           guild_id_of_command_scope(call));
}
