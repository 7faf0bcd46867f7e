/* world.c - import and export of commands in world files (JSON data sets). A world file has the
 * body of a bulk overwrite, and the same rules apply. A command in the file replaces the stored
 * command with the same id, or else the stored command with the same name. All other stored
 * commands stay. */
#include "commands/internal.h"

#include "commands/form_errors.h"
#include "commands/permissions/permission_deletion.h"
#include "model/fields/rows.h"
#include "platform/applications/applications.h"
#include "platform/worlds/import_export.h"

struct existing_command {
    struct command_row row;
    bool matched; /* a command in the file has replaced this stored command */
};

struct command_import {
    struct tx *tx;
    struct form *form;
    struct application application;
    snowflake guild_id;
    /* All guild or global commands (struct existing_command), and those imported so far. */
    struct list known;
    struct imported_object_count *count;
    bool changed;
};

static struct existing_command *existing_command_at(const struct command_import *in, size_t i)
{
    return (struct existing_command *)in->known.items + i;
}

static struct existing_command *find_existing_by_id(const struct command_import *in, snowflake id)
{
    for (size_t i = 0; i < in->known.count; i++)
        if (existing_command_at(in, i)->row.id == id)
            return existing_command_at(in, i);
    return NULL;
}

/* Finds the stored command with this name. An entry point command matches any name, because an
 * application has at most one entry point command. */
static struct existing_command *find_existing_by_name(const struct command_import *in,
                                                      const struct command *k)
{
    for (size_t i = 0; i < in->known.count; i++) {
        const struct command_row *row = &existing_command_at(in, i)->row;

        if (row->type == k->type && (k->type == COMMAND_ENTRY_POINT || str_eq(row->name, k->name)))
            return existing_command_at(in, i);
    }
    return NULL;
}

static const char ID_IS_TAKEN[] = "select 1 from commands where id = $1";

/* Checks that a new command may have this id, which no other command may have. */
static enum err check_new_command_id(struct command_import *in, snowflake id,
                                     const struct json_path *at)
{
    bool taken;
    enum err e = tx_exists(in->tx, ID_IS_TAKEN, BIND(v_id(id)), &taken);

    if (!e && (taken || !id || id == in->application.id))
        form_add_error(in->form, at, "WORLD_TAKEN", "this id belongs to something else");
    return e;
}

/* Finds the stored command that a command in the file replaces. *ret is NULL if the command is new,
 * or if it is invalid; an invalid command was reported. */
static enum err resolve_replaced_command(struct command_import *in, const struct command *k,
                                         struct opt_id id, const struct json_path *here,
                                         struct existing_command **ret)
{
    struct json_path id_at = json_path_key(here, STR("id")),
                     name_at = json_path_key(here, STR("name"));
    struct existing_command *named = find_existing_by_name(in, k), *same = named;

    *ret = NULL;
    if (id.given == GIVEN)
        same = find_existing_by_id(in, id.value);
    if (same && same->row.type != k->type)
        form_add_error(in->form, &id_at, "WORLD_TAKEN",
                       "this id belongs to a command of another type");
    else if (same && same->matched)
        form_add_error(in->form, here, FORM_DUPLICATE_COMMAND);
    else if (named && named != same)
        form_add_error(in->form, &name_at, "WORLD_TAKEN",
                       "there is a command '%.*s' with another id", STR_ARGS(named->row.name));
    else if (!same && id.given == GIVEN)
        return check_new_command_id(in, id.value, &id_at);
    else
        *ret = same;
    return OK;
}

static bool command_limit_allows_new_command(const struct command_import *in, int64_t type)
{
    int64_t count = 0;

    for (size_t i = 0; i < in->known.count; i++)
        count += existing_command_at(in, i)->row.type == type;
    return count < max_commands_of_type(type);
}

static enum err import_new_command(struct command_import *in, struct command *k, struct opt_id id,
                                   const struct json_path *here)
{
    struct encoded_command texts;

    if (!command_limit_allows_new_command(in, k->type)) {
        form_add_error(in->form, here, "WORLD_FULL", "%s",
                       error_info(get_too_many_commands_error(k->type))->message);
        return OK;
    }
    k->version = snowflake_new();
    k->id = id.given == GIVEN ? id.value : k->version;
    struct existing_command *made = list_append(tx_arena(in->tx), &in->known, sizeof *made);
    *made = (struct existing_command){ { .id = k->id, .type = k->type, .name = k->name },
                                       .matched = true };
    in->count->made++;
    in->changed = true;
    enum err e = encode_command(tx_arena(in->tx), k, in->form, here, &texts);
    return e ? e : insert_command(in->tx, k, &texts);
}

static enum err import_replaced_command(struct command_import *in, struct command *k,
                                        struct existing_command *old, const struct json_path *here)
{
    struct encoded_command texts;
    enum err e = OK;

    old->matched = true;
    in->count->known++;
    k->id = old->row.id;
    if (command_equals_row(tx_arena(in->tx), k, &old->row))
        return OK;
    in->changed = true;
    k->version = snowflake_new();
    if (!str_eq(k->name, old->row.name))
        e = delete_all_command_permissions(in->tx, k->id);
    old->row.name = k->name;
    if (!e)
        e = encode_command(tx_arena(in->tx), k, in->form, here, &texts);
    return e ? e : update_command(in->tx, k, &texts);
}

static enum err import_command(struct command_import *in, const struct command_patch *entry,
                               const struct json_path *here)
{
    struct command k = new_empty_command(in->guild_id);
    struct arena *arena = tx_arena(in->tx);
    struct existing_command *old;

    k.application_id = in->application.id;
    apply_command_patch(arena, &k, entry);
    normalize_command(arena, &k);
    if (check_command_install_types(in->form, here, &in->application, &k, entry))
        return OK; /* check_command_install_types has added the error */
    enum err e = resolve_replaced_command(in, &k, entry->id, here, &old);
    if (e || form_has_error_at_path(in->form, here))
        return e;
    e = old ? import_replaced_command(in, &k, old, here)
            : import_new_command(in, &k, entry->id, here);
    return e == ERR_INVALID_FORM_BODY ? OK : e; /* the error is in the form */
}

static enum err read_existing_commands(struct command_import *in)
{
    struct list rows;
    enum err e = read_command_rows(in->tx, in->application.id, in->guild_id, true, &rows);

    for (size_t i = 0; i < rows.count && !e; i++) {
        struct existing_command *k = list_append(tx_arena(in->tx), &in->known, sizeof *k);

        k->row = ((const struct command_row *)rows.items)[i];
    }
    return e;
}

/* Imports commands. `json` is the JSON text at the given path of the world file. */
static enum err import_commands(struct world_file_importer *im, const void *json,
                                const struct json_path *at, snowflake application)
{
    struct command_import in = { .tx = im->tx,
                                 .form = im->form,
                                 .guild_id = im->guild,
                                 .count = &im->report->counts[COUNT_COMMANDS] };
    const struct type *type = im->guild ? &guild_commands_body : &commands_body;
    void *body;

    if (schema_decode_part_of_body(type, *(const struct str *)json, im->form, at, &body))
        return OK; /* if there are errors, they are in the form */
    const struct list *entries = body;
    enum err e = application_find(im->tx, application, &in.application);
    if (!e)
        e = read_existing_commands(&in);
    for (size_t i = 0; i < entries->count && !e; i++) {
        struct json_path here = json_path_index(at, i);

        e = import_command(&in, (const struct command_patch *)entries->items + i, &here);
    }
    if (e || !in.changed)
        return e;
    e = update_command_bundle_and_indexes(im->tx, im->form, at, &in.application, im->guild);
    return e == ERR_INVALID_FORM_BODY ? OK : e;
}

static void make_null_dictionary_absent(struct opt_list *dictionary)
{
    if (dictionary->given == GIVEN_NULL)
        dictionary->given = ABSENT;
}

static void clear_null_option_dictionaries(const struct list *options)
{
    struct command_option *o = options->items;

    for (size_t i = 0; i < options->count; i++) {
        struct command_choice *c = o[i].choices.value.items;

        make_null_dictionary_absent(&o[i].name_localizations);
        make_null_dictionary_absent(&o[i].description_localizations);
        for (size_t n = 0; n < o[i].choices.value.count; n++)
            make_null_dictionary_absent(&c[n].name_localizations);
        clear_null_option_dictionaries(&o[i].options.value);
    }
}

/* Returns the request body that would create the command. */
static struct command_patch command_to_patch(const struct command *k)
{
    struct command_patch p = {
        .id = opt_id_or_null(k->id),
        .type = { k->type == COMMAND_CHAT_INPUT ? ABSENT : GIVEN, k->type },
        .handler = k->handler,
        .name = opt_str_or_null(k->name),
        .description = { k->description.n ? GIVEN : ABSENT, k->description },
        .name_localizations = k->name_localizations,
        .description_localizations = k->description_localizations,
        .options = k->options,
        .default_member_permissions = k->default_member_permissions,
        .nsfw = { k->nsfw ? GIVEN : ABSENT, k->nsfw },
        .integration_types = k->integration_types,
        .contexts = k->contexts,
    };

    make_null_dictionary_absent(&p.name_localizations);
    make_null_dictionary_absent(&p.description_localizations);
    make_null_dictionary_absent(&p.contexts);
    clear_null_option_dictionaries(&p.options.value);
    if (p.default_member_permissions.given != GIVEN)
        p.default_member_permissions.given = ABSENT;
    if (p.contexts.given != GIVEN && k->dm_permission.given == GIVEN && !k->dm_permission.value)
        p.dm_permission = k->dm_permission;
    return p;
}

static enum err export_commands(struct world_file_exporter *ex, struct opt_str *ret)
{
    const struct type *type = ex->guild ? &guild_commands_body : &commands_body;
    struct list rows, bodies = { 0 };
    struct command k;
    enum err e = read_command_rows(ex->tx, ex->application, ex->guild, true, &rows);

    for (size_t i = 0; i < rows.count && !e; i++) {
        e = decode_command_definition(tx_arena(ex->tx),
                                      ((const struct command_row *)rows.items)[i].definition, &k);
        if (!e)
            *(struct command_patch *)list_append(
                tx_arena(ex->tx), &bodies, sizeof(struct command_patch)) = command_to_patch(&k);
    }
    if (!e && bodies.count)
        *ret = opt_str_or_null(json_column_encode(tx_arena(ex->tx), type, &bodies));
    return e;
}

const struct world_file_fields commands_world = { (const struct world_file_field[]){
    { "application", "commands", &type_raw, .order = 40, .import = import_commands,
      .export_text = export_commands },
    { "installed", "commands", &type_raw, .order = 10, .import = import_commands,
      .export_text = export_commands },
    { 0 },
} };
