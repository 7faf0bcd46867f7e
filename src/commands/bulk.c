/* bulk.c - PUT …/commands: the bulk overwrite of all commands of a scope.
 *
 * Bots send the same list at every start, so usually nothing changes and nothing is written. A
 * command that matches a stored row keeps that row's id. The overwrite is atomic. */
#include "commands/internal.h"

#include "commands/form.h"
#include "commands/known_bodies.h"
#include "commands/permissions/permission_drops.h"
#include "model/fields/ids.h"
#include "platform/applications/applications.h"

struct bulk_overwrite {
    struct call *call;
    snowflake application_id, guild_id;
    const struct list *body;     /* struct command_patch */
    struct command_draft *items; /* drafts, one per item of the body */
    const struct list *rows;     /* struct command_row: stored rows */
    bool *matched;               /* per stored row: true if an item of the body replaces it */
    int64_t room; /* number of permission rows that this transaction may still delete */
};

static size_t row_count(const struct bulk_overwrite *b)
{
    return b->rows->count;
}
static const struct command_row *row_at(const struct bulk_overwrite *b, size_t i)
{
    return (const struct command_row *)b->rows->items + i;
}
static const struct command_patch *patch_at(const struct bulk_overwrite *b, size_t i)
{
    return (const struct command_patch *)b->body->items + i;
}

static struct bulk_overwrite bulk_of(struct call *call, const struct command_drafts *d)
{
    return (struct bulk_overwrite){
        .call = call,
        .application_id = call->target.application->id,
        .guild_id = call->target.guild ? call->target.guild->id : 0,
        .body = call->body,
        .items = d->items,
        .rows = &d->rows,
        .matched = arena_alloc(call->arena, d->rows.count + 1),
        .room = PERMISSION_DROPS_AT_ONCE,
    };
}

/* --- building drafts ------------------------------------------------------------------ */

static enum err make_items(struct bulk_overwrite *b)
{
    struct arena *arena = b->call->arena;
    enum err e = OK;

    for (size_t i = 0; i < b->body->count; i++) {
        struct place here = place_index(NULL, i);
        struct command *k = &b->items[i].command;

        *k = command_blank(b->guild_id);
        k->application_id = b->application_id;
        command_apply(arena, k, patch_at(b, i));
        command_tidy(arena, k);
        enum err misfit =
            command_fit(&b->call->form, &here, b->call->target.application, k, patch_at(b, i));
        e = e ? e : misfit;
    }
    return e;
}

static bool same_command(const struct bulk_overwrite *b, size_t i, size_t n)
{
    const struct command *one = &b->items[i].command, *two = &b->items[n].command;
    const struct opt_id *id = &patch_at(b, i)->id, *other = &patch_at(b, n)->id;

    return (one->type == two->type && str_eq(one->name, two->name)) ||
           (id->given == GIVEN && other->given == GIVEN && id->value == other->value);
}

static enum err check_duplicates(struct bulk_overwrite *b)
{
    enum err e = OK;

    for (size_t n = 1; n < b->body->count; n++) {
        struct place at = place_index(NULL, n);
        size_t i = 0;

        while (i < n && !same_command(b, i, n))
            i++;
        if (i < n) {
            form_fail(&b->call->form, &at, FORM_DUPLICATE_COMMAND);
            e = ERR_INVALID_FORM_BODY;
        }
    }
    return e;
}

/* --- matching ------------------------------------------------------------------------- */

static void bulk_match(struct bulk_overwrite *b, size_t item, size_t row)
{
    b->items[item].old = row_at(b, row);
    b->matched[row] = true;
}

/* Matches items to rows by id, before names: an item with an id can take the name that another item
 * has now. */
static void match_ids(struct bulk_overwrite *b)
{
    for (size_t i = 0; i < b->body->count; i++) {
        const struct opt_id *id = &patch_at(b, i)->id;

        for (size_t n = 0; id->given == GIVEN && n < row_count(b); n++)
            if (row_at(b, n)->id == id->value && row_at(b, n)->type == b->items[i].command.type)
                bulk_match(b, i, n);
    }
}

/* Returns true if the names match. An application has at most one entry point, which matches with
 * any name. */
static bool is_named(const struct command_row *row, const struct command *k)
{
    return row->type == k->type && (k->type == COMMAND_ENTRY_POINT || str_eq(row->name, k->name));
}

static void match_names(struct bulk_overwrite *b)
{
    for (size_t i = 0; i < b->body->count; i++)
        for (size_t n = 0; !b->items[i].old && n < row_count(b); n++)
            if (!b->matched[n] && is_named(row_at(b, n), &b->items[i].command))
                bulk_match(b, i, n);
}

static enum err finish_items(struct bulk_overwrite *b)
{
    enum err e = OK;

    for (size_t i = 0; i < b->body->count && !e; i++) {
        struct place here = place_index(NULL, i);

        e = draft_finish(b->call, &b->items[i], &here);
    }
    return e;
}

static enum err find_scope(struct call *call, bool whole, struct list *ret)
{
    snowflake guild_id = call->target.guild ? call->target.guild->id : 0;

    return command_rows(call->tx, call->target.application->id, guild_id, whole, ret);
}

static enum err make_all(struct call *call, struct command_drafts *d)
{
    struct bulk_overwrite b = bulk_of(call, d);

    d->count = b.body->count;
    d->items = b.items = arena_alloc(call->arena, d->count * sizeof *d->items + 1);
    enum err e = make_items(&b), duplicates = check_duplicates(&b);
    if (e || duplicates)
        return e ? e : duplicates;
    match_ids(&b);
    match_names(&b);
    return finish_items(&b);
}

/* Requests the READ stage in any case: a short body can replace long commands. */
enum err prepare_overwrite_commands(struct call *call)
{
    static const struct command_change change = { find_scope, make_all };
    const struct command_drafts *before = call_passed(call, "command_drafts");
    bool counted = before && before->counted;

    drafts_prepare(call, &change, true);
    return counted ? OK : commands_count_write(call);
}

/* --- limits --------------------------------------------------------------------------- */

static enum err check_counts(const struct bulk_overwrite *b)
{
    for (int64_t type = COMMAND_CHAT_INPUT; type <= COMMAND_ENTRY_POINT; type++) {
        int64_t count = 0;

        for (size_t i = 0; i < b->body->count; i++)
            count += b->items[i].command.type == type;
        if (count > most_commands(type))
            return most_commands_error(type);
    }
    return OK;
}

/* Refuses to remove the entry point of an embedded application: a bulk overwrite must contain
 * it. */
static enum err check_entry_point(const struct bulk_overwrite *b)
{
    if (!(b->call->target.application->flags & APPLICATION_EMBEDDED))
        return OK;
    for (size_t n = 0; n < row_count(b); n++)
        if (row_at(b, n)->type == COMMAND_ENTRY_POINT && !b->matched[n])
            return ERR_ENTRY_POINT_REQUIRED;
    return OK;
}

/* --- writing -------------------------------------------------------------------------- */

static enum err delete_others(struct bulk_overwrite *b, bool *ret_changed)
{
    enum err e = OK;

    for (size_t n = 0; n < row_count(b) && !e; n++) {
        if (b->matched[n])
            continue;
        *ret_changed = true;
        e = permissions_drop(b->call, row_at(b, n), false, &b->room);
        if (!e)
            e = command_delete_row(b->call->tx, row_at(b, n)->id);
    }
    return e;
}

/* Frees all changing names before any of them is assigned, because commands may swap names. */
static enum err free_names(struct bulk_overwrite *b)
{
    enum err e = OK;

    for (size_t i = 0; i < b->body->count && !e; i++) {
        const struct command_draft *item = &b->items[i];

        if (!item->old || str_eq(item->old->name, item->command.name))
            continue;
        e = permissions_drop(b->call, item->old, true, &b->room);
        if (!e)
            e = command_unname(b->call->tx, item->old->id);
    }
    return e;
}

static enum err write_items(struct bulk_overwrite *b, bool *ret_changed)
{
    enum err e = OK;

    for (size_t i = 0; i < b->body->count && !e; i++) {
        const struct command_draft *item = &b->items[i];

        if (!item->changed)
            continue;
        *ret_changed = true;
        e = item->old ? command_update(b->call->tx, &item->command, &item->texts)
                      : command_insert(b->call->tx, &item->command, &item->texts);
    }
    return e;
}

static struct list new_ids_of(const struct bulk_overwrite *b)
{
    struct list ids = { 0 };

    for (size_t i = 0; i < b->body->count; i++)
        if (!b->items[i].old)
            ids_add(b->call->arena, &ids, b->items[i].command.id);
    return ids;
}

static enum err write_all(struct bulk_overwrite *b)
{
    struct list new_ids = new_ids_of(b); /* count towards the daily limit */
    bool changed = false;

    enum err e =
        count_creates(b->call->tx, b->application_id, b->guild_id, new_ids.items, new_ids.count);
    if (!e)
        e = delete_others(b, &changed);
    if (!e)
        e = free_names(b);
    if (!e)
        e = write_items(b, &changed);
    if (!e && changed)
        e = commands_changed(b->call, b->call->target.application, b->guild_id);
    return e;
}

static enum err bulk_send_reply(struct bulk_overwrite *b)
{
    static const struct type texts = { .kind = KIND_ARRAY, .of = &type_raw };
    struct list shown = { 0 };

    for (size_t i = 0; i < b->body->count; i++)
        *(struct str *)list_add(b->call->arena, &shown, sizeof(struct str)) =
            command_shown(b->call->arena, &b->items[i].command, &b->items[i].texts);
    return call_reply_as(b->call, &texts, &shown);
}

/* Marks the rows that the drafts replace; other rows are deleted. */
static void note_matched(struct bulk_overwrite *b)
{
    for (size_t i = 0; i < b->body->count; i++)
        if (b->items[i].old)
            b->matched[b->items[i].old - (const struct command_row *)b->rows->items] = true;
}

/* Caches the result for the next request with the same body. */
static void note_known_body(struct call *call)
{
    known_body_note(call, call_passed(call, "command_drafts"));
}

/* PUT …/commands: replaces the whole list. */
enum err overwrite_commands(struct call *call)
{
    struct command_drafts *d;
    enum err e = drafts_settle(call, &d);

    if (e)
        return e;
    struct bulk_overwrite b = bulk_of(call, d);
    note_matched(&b);
    e = check_counts(&b);
    if (!e)
        e = check_entry_point(&b);
    if (!e)
        e = write_all(&b);
    call->after = note_known_body;
    return e ? e : bulk_send_reply(&b);
}
