/* register.c - creates, modifies and deletes one command. */
#include "commands/internal.h"

#include "commands/form.h"
#include "commands/permissions/permission_drops.h"
#include "platform/applications/applications.h"

static snowflake scope_of(const struct call *call)
{
    return call->target.guild ? call->target.guild->id : 0;
}

/* Checks that the installation contexts are among those of the application, which are the
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

/* --- building the draft --------------------------------------------------------------- */

static struct command_draft *one_draft(struct call *call, struct command_drafts *d)
{
    d->items = arena_alloc(call->arena, sizeof *d->items);
    d->count = 1;
    d->items->old = d->rows.count ? d->rows.items : NULL;
    return d->items;
}

/* Reads the stored command with the same name and type. */
static enum err find_named(struct call *call, bool whole, struct list *ret)
{
    const struct command_patch *in = call->body;
    struct command k = command_blank(scope_of(call));

    command_apply(call->arena, &k, &(struct command_patch){ .type = in->type, .name = in->name });
    command_tidy(call->arena, &k);
    return command_rows_named(call->tx, call->target.application->id, scope_of(call), k.type,
                              k.name, whole, ret);
}

static enum err make_new(struct call *call, struct command_drafts *d)
{
    struct command_draft *draft = one_draft(call, d);
    struct command *k = &draft->command;

    *k = command_blank(scope_of(call));
    k->application_id = call->target.application->id;
    command_apply(call->arena, k, call->body);
    command_tidy(call->arena, k);
    enum err e = command_fit(&call->form, NULL, call->target.application, k, call->body);
    return e ? e : draft_finish(call, draft, NULL);
}

static enum err find_target(struct call *call, bool whole, struct list *ret)
{
    return command_rows_by_id(call->tx, call->target.command->id, whole, ret);
}

static enum err make_changed(struct call *call, struct command_drafts *d)
{
    struct command_draft *draft = one_draft(call, d);
    struct command *k = &draft->command;

    enum err e =
        draft->old ? command_read(call->arena, draft->old->definition, k) : ERR_UNKNOWN_COMMAND;
    if (e)
        return e;
    command_apply(call->arena, k, call->body);
    command_check(&call->form, NULL, k);
    if (form_failed(&call->form))
        return ERR_INVALID_FORM_BODY;
    command_tidy(call->arena, k);
    e = command_fit(&call->form, NULL, call->target.application, k, call->body);
    return e ? e : draft_finish(call, draft, NULL);
}

enum err prepare_create_command(struct call *call)
{
    static const struct command_change change = { find_named, make_new };

    drafts_prepare(call, &change, false);
    return commands_count_write(call);
}

/* Requests the READ stage in any case: a short body can change a long command. */
enum err prepare_modify_command(struct call *call)
{
    static const struct command_change change = { find_target, make_changed };

    drafts_prepare(call, &change, true);
    return commands_count_write(call);
}

static enum err reply_with(struct call *call, const struct command_draft *d)
{
    struct str text = command_shown(call->arena, &d->command, &d->texts);

    return call_reply_as(call, &type_raw, &text);
}

static enum err register_add(struct call *call, const struct command_draft *d)
{
    const struct command *k = &d->command;
    snowflake guild_id = scope_of(call);

    enum err e = commands_check_room(call->tx, k->application_id, guild_id, k->type);
    if (!e)
        e = count_creates(call->tx, k->application_id, guild_id, &k->id, 1);
    if (!e)
        e = command_insert(call->tx, k, &d->texts);
    if (!e)
        e = commands_changed(call, call->target.application, guild_id);
    call_set_status(call, 201);
    return e ? e : reply_with(call, d);
}

/* Updates a command, unless it is unchanged. always: a guild gets the event even then. */
static enum err register_replace(struct call *call, const struct command_draft *d, bool always)
{
    const struct command *k = &d->command;
    int64_t room = PERMISSION_DROPS_AT_ONCE;
    enum err e = OK;

    if (!d->changed) {
        if (always && d->old->guild_id)
            commands_tell_guild(call, d->old->guild_id);
        return reply_with(call, d);
    }
    if (!str_eq(k->name, d->old->name))
        e = permissions_drop(call, d->old, true, &room);
    if (!e)
        e = command_update(call->tx, k, &d->texts);
    if (!e)
        e = commands_changed(call, call->target.application, d->old->guild_id);
    return e ? e : reply_with(call, d);
}

/* POST …/commands: replaces a command with the same name. */
enum err create_command(struct call *call)
{
    struct command_drafts *d;
    enum err e = drafts_settle(call, &d);

    if (e)
        return e;
    return d->items->old ? register_replace(call, d->items, false) : register_add(call, d->items);
}

/* PATCH …/commands/{command.id} */
enum err modify_command(struct call *call)
{
    struct command_drafts *d;
    struct list others = { 0 };
    enum err e = drafts_settle(call, &d);

    if (e)
        return e;
    const struct command *k = &d->items->command;
    if (!str_eq(k->name, d->items->old->name))
        e = command_rows_named(call->tx, k->application_id, scope_of(call), k->type, k->name, false,
                               &others);
    if (!e && others.count)
        e = ERR_COMMAND_NAME_TAKEN;
    return e ? e : register_replace(call, d->items, true);
}

/* DELETE …/commands/{command.id} */
enum err delete_command(struct call *call)
{
    const struct command *k = call->target.command;
    struct command_row row = { .id = k->id, .application_id = k->application_id };
    int64_t room = PERMISSION_DROPS_AT_ONCE;

    enum err e = permissions_drop(call, &row, false, &room);
    if (!e)
        e = command_delete_row(call->tx, k->id);
    return e ? e : commands_changed(call, call->target.application, scope_of(call));
}
