/* worlds.c - import and export of commands in world files.
 *
 * A file contains the body of a bulk overwrite and the same rules apply. An entry replaces the
 * command with its id, or else with its name; other commands stay. */
#include "commands/internal.h"

#include "commands/form.h"
#include "commands/permissions/permission_drops.h"
#include "model/fields/rows.h"
#include "platform/applications/applications.h"
#include "platform/worlds/file.h"

struct known {
    struct command_row row;
    bool met; /* an entry of the file matched this command */
};

struct command_import {
    struct tx *tx;
    struct form *form;
    struct application application;
    snowflake guild_id;
    struct list known; /* struct known: commands of this scope, including new ones */
    struct world_count *count;
    bool changed;
};

static struct known *known_at(const struct command_import *in, size_t i)
{
    return (struct known *)in->known.items + i;
}

static struct known *find_id(const struct command_import *in, snowflake id)
{
    for (size_t i = 0; i < in->known.count; i++)
        if (known_at(in, i)->row.id == id)
            return known_at(in, i);
    return NULL;
}

/* Finds the command with this name. An application has at most one entry point, which matches with
 * any name. */
static struct known *find_name(const struct command_import *in, const struct command *k)
{
    for (size_t i = 0; i < in->known.count; i++) {
        const struct command_row *row = &known_at(in, i)->row;

        if (row->type == k->type && (k->type == COMMAND_ENTRY_POINT || str_eq(row->name, k->name)))
            return known_at(in, i);
    }
    return NULL;
}

static const char ID_IS_TAKEN[] = "select 1 from commands where id = $1";

/* Checks that a new command may have this id. */
static enum err check_id(struct command_import *in, snowflake id, const struct place *at)
{
    struct rows row;
    bool taken;
    enum err e = tx_one(in->tx, ID_IS_TAKEN, BIND(v_id(id)), &row, &taken);

    if (!e && (taken || !id || id == in->application.id))
        form_fail(in->form, at, "WORLD_TAKEN", "this id belongs to something else");
    return e;
}

/* Finds the command that an entry replaces; *ret NULL: the entry is new, or invalid and
 * reported. */
static enum err world_settle(struct command_import *in, const struct command *k, struct opt_id id,
                             const struct place *here, struct known **ret)
{
    struct place id_at = place_key(here, STR("id")), name_at = place_key(here, STR("name"));
    struct known *named = find_name(in, k), *same = named;

    *ret = NULL;
    if (id.given == GIVEN)
        same = find_id(in, id.value);
    if (same && same->row.type != k->type)
        form_fail(in->form, &id_at, "WORLD_TAKEN", "this id belongs to a command of another type");
    else if (same && same->met)
        form_fail(in->form, here, FORM_DUPLICATE_COMMAND);
    else if (named && named != same)
        form_fail(in->form, &name_at, "WORLD_TAKEN", "there is a command '%.*s' with another id",
                  STR_FMT(named->row.name));
    else if (!same && id.given == GIVEN)
        return check_id(in, id.value, &id_at);
    else
        *ret = same;
    return OK;
}

static bool has_room(const struct command_import *in, int64_t type)
{
    int64_t count = 0;

    for (size_t i = 0; i < in->known.count; i++)
        count += known_at(in, i)->row.type == type;
    return count < most_commands(type);
}

static enum err world_add(struct command_import *in, struct command *k, struct opt_id id,
                          const struct place *here)
{
    struct command_texts texts;

    if (!has_room(in, k->type)) {
        form_fail(in->form, here, "WORLD_FULL", "%s",
                  error_info(most_commands_error(k->type))->message);
        return OK;
    }
    k->version = snowflake_new();
    k->id = id.given == GIVEN ? id.value : k->version;
    struct known *made = list_add(tx_arena(in->tx), &in->known, sizeof *made);
    *made = (struct known){ { .id = k->id, .type = k->type, .name = k->name }, .met = true };
    in->count->made++;
    in->changed = true;
    enum err e = command_encode(tx_arena(in->tx), k, in->form, here, &texts);
    return e ? e : command_insert(in->tx, k, &texts);
}

static enum err world_replace(struct command_import *in, struct command *k, struct known *old,
                              const struct place *here)
{
    struct command_texts texts;
    enum err e = OK;

    old->met = true;
    in->count->known++;
    k->id = old->row.id;
    if (command_is_kept(tx_arena(in->tx), k, &old->row))
        return OK;
    in->changed = true;
    k->version = snowflake_new();
    if (!str_eq(k->name, old->row.name))
        e = permissions_remove(in->tx, k->id);
    old->row.name = k->name;
    if (!e)
        e = command_encode(tx_arena(in->tx), k, in->form, here, &texts);
    return e ? e : command_update(in->tx, k, &texts);
}

static enum err import_one(struct command_import *in, const struct command_patch *entry,
                           const struct place *here)
{
    struct command k = command_blank(in->guild_id);
    struct arena *arena = tx_arena(in->tx);
    struct known *old;

    k.application_id = in->application.id;
    command_apply(arena, &k, entry);
    command_tidy(arena, &k);
    if (command_fit(in->form, here, &in->application, &k, entry))
        return OK; /* command_fit reported why */
    enum err e = world_settle(in, &k, entry->id, here, &old);
    if (e || form_failed_at(in->form, here))
        return e;
    e = old ? world_replace(in, &k, old, here) : world_add(in, &k, entry->id, here);
    return e == ERR_INVALID_FORM_BODY ? OK : e; /* the error is in the form */
}

static enum err load_known(struct command_import *in)
{
    struct list rows;
    enum err e = command_rows(in->tx, in->application.id, in->guild_id, true, &rows);

    for (size_t i = 0; i < rows.count && !e; i++) {
        struct known *k = list_add(tx_arena(in->tx), &in->known, sizeof *k);

        k->row = ((const struct command_row *)rows.items)[i];
    }
    return e;
}

/* Imports commands; json: the JSON text at this path. */
static enum err import_commands(struct importing *im, const void *json, const struct place *at,
                                snowflake application)
{
    struct command_import in = { .tx = im->tx,
                                 .form = im->form,
                                 .guild_id = im->guild,
                                 .count = &im->report->counts[COUNT_COMMANDS] };
    const struct type *type = im->guild ? &guild_commands_body : &commands_body;
    void *body;

    if (schema_decode_at(type, *(const struct str *)json, im->form, at, &body))
        return OK; /* the JSON is valid; errors are in the form */
    const struct list *entries = body;
    enum err e = application_find(im->tx, application, &in.application);
    if (!e)
        e = load_known(&in);
    for (size_t i = 0; i < entries->count && !e; i++) {
        struct place here = place_index(at, i);

        e = import_one(&in, (const struct command_patch *)entries->items + i, &here);
    }
    if (e || !in.changed)
        return e;
    e = commands_settle(im->tx, im->form, at, &in.application, im->guild);
    return e == ERR_INVALID_FORM_BODY ? OK : e;
}

static void leave_out_null(struct opt_list *dictionary)
{
    if (dictionary->given == GIVEN_NULL)
        dictionary->given = ABSENT;
}

static void tidy_options(const struct list *options)
{
    struct command_option *o = options->items;

    for (size_t i = 0; i < options->count; i++) {
        struct command_choice *c = o[i].choices.value.items;

        leave_out_null(&o[i].name_localizations);
        leave_out_null(&o[i].description_localizations);
        for (size_t n = 0; n < o[i].choices.value.count; n++)
            leave_out_null(&c[n].name_localizations);
        tidy_options(&o[i].options.value);
    }
}

/* Returns the body that would create the command. */
static struct command_patch body_of(const struct command *k)
{
    struct command_patch p = {
        .id = given_id(k->id),
        .type = { k->type == COMMAND_CHAT_INPUT ? ABSENT : GIVEN, k->type },
        .handler = k->handler,
        .name = given_str(k->name),
        .description = { k->description.n ? GIVEN : ABSENT, k->description },
        .name_localizations = k->name_localizations,
        .description_localizations = k->description_localizations,
        .options = k->options,
        .default_member_permissions = k->default_member_permissions,
        .nsfw = { k->nsfw ? GIVEN : ABSENT, k->nsfw },
        .integration_types = k->integration_types,
        .contexts = k->contexts,
    };

    leave_out_null(&p.name_localizations);
    leave_out_null(&p.description_localizations);
    leave_out_null(&p.contexts);
    tidy_options(&p.options.value);
    if (p.default_member_permissions.given != GIVEN)
        p.default_member_permissions.given = ABSENT;
    if (p.contexts.given != GIVEN && k->dm_permission.given == GIVEN && !k->dm_permission.value)
        p.dm_permission = k->dm_permission;
    return p;
}

static enum err export_commands(struct exporting *ex, struct opt_str *ret)
{
    const struct type *type = ex->guild ? &guild_commands_body : &commands_body;
    struct list rows, bodies = { 0 };
    struct command k;
    enum err e = command_rows(ex->tx, ex->application, ex->guild, true, &rows);

    for (size_t i = 0; i < rows.count && !e; i++) {
        e = command_read(tx_arena(ex->tx), ((const struct command_row *)rows.items)[i].definition,
                         &k);
        if (!e)
            *(struct command_patch *)list_add(tx_arena(ex->tx), &bodies,
                                              sizeof(struct command_patch)) = body_of(&k);
    }
    if (!e && bodies.count)
        *ret = given_str(column_encode(tx_arena(ex->tx), type, &bodies));
    return e;
}

const struct world_parts commands_world = { (const struct world_part[]){
    { "application", "commands", &type_raw, .order = 40, .import = import_commands,
      .export_text = export_commands },
    { "installed", "commands", &type_raw, .order = 10, .import = import_commands,
      .export_text = export_commands },
    { 0 },
} };
