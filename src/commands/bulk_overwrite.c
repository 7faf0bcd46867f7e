/* bulk_overwrite.c - PUT …/commands: replaces all commands of a guild, or all global commands. Bots
 * send the same list at every start, so usually nothing changes and nothing is written. A command
 * that matches a stored row retains the id of that row. The overwrite is atomic. */
#include "commands/internal.h"

#include "commands/form_errors.h"
#include "commands/overwrite_body_cache.h"
#include "commands/permissions/permission_deletion.h"
#include "model/fields/ids.h"
#include "platform/applications/applications.h"

struct bulk_overwrite {
    struct call *call;
    snowflake application_id, guild_id;
    const struct list *body;        /* struct command_patch */
    struct prepared_command *items; /* one per item of the body */
    const struct list *rows;        /* the stored rows (struct command_row) */
    /* array with one bool per stored row: true if a command of the body replaces the row */
    bool *matched;
    int64_t room; /* number of permission rows that this transaction may still delete */
};

static size_t bulk_count_stored_rows(const struct bulk_overwrite *b)
{
    return b->rows->count;
}
static const struct command_row *bulk_stored_row_at(const struct bulk_overwrite *b, size_t i)
{
    return (const struct command_row *)b->rows->items + i;
}
static const struct command_patch *bulk_requested_command_at(const struct bulk_overwrite *b,
                                                             size_t i)
{
    return (const struct command_patch *)b->body->items + i;
}

static struct bulk_overwrite bulk_overwrite_of_call(struct call *call,
                                                    const struct prepared_command_change *d)
{
    return (struct bulk_overwrite){
        .call = call,
        .application_id = call->target.application->id,
        .guild_id = call->target.guild ? call->target.guild->id : 0,
        .body = call->body,
        .items = d->items,
        .rows = &d->rows,
        .matched = arena_alloc(call->arena, d->rows.count + 1),
        .room = PERMISSION_DELETIONS_PER_STEP,
    };
}

/* --- building drafts ------------------------------------------------------------------ */

static enum err build_command_drafts(struct bulk_overwrite *b)
{
    struct arena *arena = b->call->arena;
    enum err e = OK;

    for (size_t i = 0; i < b->body->count; i++) {
        struct json_path here = json_path_index(NULL, i);
        struct command *k = &b->items[i].command;

        *k = new_empty_command(b->guild_id);
        k->application_id = b->application_id;
        apply_command_patch(arena, k, bulk_requested_command_at(b, i));
        normalize_command(arena, k);
        enum err misfit = check_command_install_types(
            &b->call->form, &here, b->call->target.application, k, bulk_requested_command_at(b, i));
        e = e ? e : misfit;
    }
    return e;
}

static bool bulk_overwrite_commands_are_duplicates(const struct bulk_overwrite *b, size_t i,
                                                   size_t n)
{
    const struct command *one = &b->items[i].command, *two = &b->items[n].command;
    const struct opt_id *id = &bulk_requested_command_at(b, i)->id,
                        *other = &bulk_requested_command_at(b, n)->id;

    return (one->type == two->type && str_eq(one->name, two->name)) ||
           (id->given == GIVEN && other->given == GIVEN && id->value == other->value);
}

static enum err refuse_duplicate_commands(struct bulk_overwrite *b)
{
    enum err e = OK;

    for (size_t n = 1; n < b->body->count; n++) {
        struct json_path at = json_path_index(NULL, n);
        size_t i = 0;

        while (i < n && !bulk_overwrite_commands_are_duplicates(b, i, n))
            i++;
        if (i < n) {
            form_add_error(&b->call->form, &at, FORM_DUPLICATE_COMMAND);
            e = ERR_INVALID_FORM_BODY;
        }
    }
    return e;
}

/* --- matching ------------------------------------------------------------------------- */

static void match_command_to_row(struct bulk_overwrite *b, size_t item, size_t row)
{
    b->items[item].old = bulk_stored_row_at(b, row);
    b->matched[row] = true;
}

/* Matches commands of the body to stored rows by id. Runs before the match by name, because a
 * command with an id can take the present name of another command. */
static void match_commands_to_rows_by_id(struct bulk_overwrite *b)
{
    for (size_t i = 0; i < b->body->count; i++) {
        const struct opt_id *id = &bulk_requested_command_at(b, i)->id;

        for (size_t n = 0; id->given == GIVEN && n < bulk_count_stored_rows(b); n++)
            if (bulk_stored_row_at(b, n)->id == id->value &&
                bulk_stored_row_at(b, n)->type == b->items[i].command.type)
                match_command_to_row(b, i, n);
    }
}

/* Returns whether the row and the command have the same type and name. An entry point command
 * matches a row with any name, because an application has at most one entry point command. */
static bool row_has_command_name(const struct command_row *row, const struct command *k)
{
    return row->type == k->type && (k->type == COMMAND_ENTRY_POINT || str_eq(row->name, k->name));
}

static void match_commands_to_rows_by_name(struct bulk_overwrite *b)
{
    for (size_t i = 0; i < b->body->count; i++)
        for (size_t n = 0; !b->items[i].old && n < bulk_count_stored_rows(b); n++)
            if (!b->matched[n] &&
                row_has_command_name(bulk_stored_row_at(b, n), &b->items[i].command))
                match_command_to_row(b, i, n);
}

static enum err finish_command_drafts(struct bulk_overwrite *b)
{
    enum err e = OK;

    for (size_t i = 0; i < b->body->count && !e; i++) {
        struct json_path here = json_path_index(NULL, i);

        e = prepared_command_set_id_and_encode(b->call, &b->items[i], &here);
    }
    return e;
}

static enum err read_command_rows_of_scope(struct call *call, bool whole, struct list *ret)
{
    snowflake guild_id = call->target.guild ? call->target.guild->id : 0;

    return read_command_rows(call->tx, call->target.application->id, guild_id, whole, ret);
}

static enum err build_drafts_of_all_commands(struct call *call, struct prepared_command_change *d)
{
    struct bulk_overwrite b = bulk_overwrite_of_call(call, d);

    d->count = b.body->count;
    d->items = b.items = arena_alloc(call->arena, d->count * sizeof *d->items + 1);
    enum err e = build_command_drafts(&b), duplicates = refuse_duplicate_commands(&b);
    if (e || duplicates)
        return e ? e : duplicates;
    match_commands_to_rows_by_id(&b);
    match_commands_to_rows_by_name(&b);
    return finish_command_drafts(&b);
}

/* Requests the READ stage (a read transaction before the write) in any case, because the stored
 * commands can be long even if the body is short. */
enum err prepare_bulk_overwrite_of_commands(struct call *call)
{
    static const struct command_change_callbacks change = { read_command_rows_of_scope,
                                                            build_drafts_of_all_commands };
    const struct prepared_command_change *before =
        call_get_stage_data(call, "prepared_command_change");
    bool counted = before && before->counted;

    prepare_command_change(call, &change, true);
    return counted ? OK : count_command_write_against_rate_limit(call);
}

/* --- limits --------------------------------------------------------------------------- */

static enum err check_command_count_limits(const struct bulk_overwrite *b)
{
    for (int64_t type = COMMAND_CHAT_INPUT; type <= COMMAND_ENTRY_POINT; type++) {
        int64_t count = 0;

        for (size_t i = 0; i < b->body->count; i++)
            count += b->items[i].command.type == type;
        if (count > max_commands_of_type(type))
            return get_too_many_commands_error(type);
    }
    return OK;
}

/* Refuses a body without an entry point command if the application is embedded, because the
 * overwrite would delete the entry point. */
static enum err check_entry_point_present(const struct bulk_overwrite *b)
{
    if (!(b->call->target.application->flags & APPLICATION_EMBEDDED))
        return OK;
    for (size_t n = 0; n < bulk_count_stored_rows(b); n++)
        if (bulk_stored_row_at(b, n)->type == COMMAND_ENTRY_POINT && !b->matched[n])
            return ERR_ENTRY_POINT_REQUIRED;
    return OK;
}

/* --- writing -------------------------------------------------------------------------- */

static enum err delete_unmatched_commands(struct bulk_overwrite *b, bool *ret_changed)
{
    enum err e = OK;

    for (size_t n = 0; n < bulk_count_stored_rows(b) && !e; n++) {
        if (b->matched[n])
            continue;
        *ret_changed = true;
        e = delete_command_permissions(b->call, bulk_stored_row_at(b, n), false, &b->room);
        if (!e)
            e = delete_command_row(b->call->tx, bulk_stored_row_at(b, n)->id);
    }
    return e;
}

/* Clears all names that change before any new name is written, because commands may swap names. */
static enum err clear_changed_names(struct bulk_overwrite *b)
{
    enum err e = OK;

    for (size_t i = 0; i < b->body->count && !e; i++) {
        const struct prepared_command *item = &b->items[i];

        if (!item->old || str_eq(item->old->name, item->command.name))
            continue;
        e = delete_command_permissions(b->call, item->old, true, &b->room);
        if (!e)
            e = set_placeholder_name_of_command(b->call->tx, item->old->id);
    }
    return e;
}

static enum err write_changed_commands(struct bulk_overwrite *b, bool *ret_changed)
{
    enum err e = OK;

    for (size_t i = 0; i < b->body->count && !e; i++) {
        const struct prepared_command *item = &b->items[i];

        if (!item->changed)
            continue;
        *ret_changed = true;
        e = item->old ? update_command(b->call->tx, &item->command, &item->texts)
                      : insert_command(b->call->tx, &item->command, &item->texts);
    }
    return e;
}

static struct list collect_new_command_ids(const struct bulk_overwrite *b)
{
    struct list ids = { 0 };

    for (size_t i = 0; i < b->body->count; i++)
        if (!b->items[i].old)
            id_list_add(b->call->arena, &ids, b->items[i].command.id);
    return ids;
}

static enum err write_bulk_overwrite(struct bulk_overwrite *b)
{
    struct list new_ids =
        /* count the new commands towards the application's daily limit */
        collect_new_command_ids(b);
    bool changed = false;

    enum err e = record_created_command_ids(b->call->tx, b->application_id, b->guild_id,
                                            new_ids.items, new_ids.count);
    if (!e)
        e = delete_unmatched_commands(b, &changed);
    if (!e)
        e = clear_changed_names(b);
    if (!e)
        e = write_changed_commands(b, &changed);
    if (!e && changed)
        e = update_command_bundle_and_emit_index_update(b->call, b->call->target.application,
                                                        b->guild_id);
    return e;
}

static enum err reply_overwritten_commands(struct bulk_overwrite *b)
{
    static const struct type texts = { .kind = KIND_ARRAY, .of = &type_raw };
    struct list replies = { 0 };

    for (size_t i = 0; i < b->body->count; i++)
        *(struct str *)list_append(b->call->arena, &replies, sizeof(struct str)) =
            build_command_reply_json(b->call->arena, &b->items[i].command, &b->items[i].texts);
    return call_reply_with_object_of_type(b->call, &texts, &replies);
}

/* Marks the rows that commands of the body replace. The overwrite deletes all other rows. */
static void mark_matched_rows(struct bulk_overwrite *b)
{
    for (size_t i = 0; i < b->body->count; i++)
        if (b->items[i].old)
            b->matched[b->items[i].old - (const struct command_row *)b->rows->items] = true;
}

/* Caches the body and its result. The next request with the same body then needs no decoding. */
static void cache_bulk_overwrite_body(struct call *call)
{
    bulk_overwrite_body_cache_store(call, call_get_stage_data(call, "prepared_command_change"));
}

/* PUT …/commands: replaces all guild commands or all global commands. */
enum err overwrite_commands(struct call *call)
{
    struct prepared_command_change *d;
    enum err e = finish_preparing_command_change(call, &d);

    if (e)
        return e;
    struct bulk_overwrite b = bulk_overwrite_of_call(call, d);
    mark_matched_rows(&b);
    e = check_command_count_limits(&b);
    if (!e)
        e = check_entry_point_present(&b);
    if (!e)
        e = write_bulk_overwrite(&b);
    call->after = cache_bulk_overwrite_body;
    return e ? e : reply_overwritten_commands(&b);
}
