/* references.c - resolves names and ids in a world file to objects of the store. */
#include "platform/worlds/import_export.h"

const struct world_file_name_lookup user_naming = {
    .word = "user",
    .by_name = SQL_TEXT("select min(id), count(*) from users where username = $1"),
    .by_id = SQL_TEXT("select min(id), count(*) from users where id = $1"),
    .any_id = SQL_TEXT("select min(id), count(*) from users where id = $1"),
    .unique = true,
};
const struct world_file_name_lookup application_naming = {
    .word = "application",
    .by_name = SQL_TEXT("select min(id), count(*) from applications where name = $1"),
    .by_id = SQL_TEXT("select min(id), count(*) from applications where id = $1"),
    .any_id = SQL_TEXT("select min(id), count(*) from applications where id = $1"),
};
const struct world_file_name_lookup guild_naming = {
    .word = "guild",
    .by_name = SQL_TEXT("select min(id), count(*) from guilds where name = $1 and removed = 0"),
    .by_id = SQL_TEXT("select min(id), count(*) from guilds where id = $1 and removed = 0"),
    .any_id = SQL_TEXT("select min(id), count(*) from guilds where id = $1 and removed = 0"),
};
const struct world_file_name_lookup role_naming = {
    .word = "role",
    .by_name = SQL_TEXT("select min(id), count(*) from roles where name = $1 and guild_id = $2 "
                        "and position >= 0"),
    .by_id = SQL_TEXT("select min(id), count(*) from roles where id = $1 and guild_id = $2 "
                      "and position >= 0"),
    .any_id = SQL_TEXT("select min(id), count(*) from roles where id = $1"),
    .scoped = true,
};
const struct world_file_name_lookup channel_naming =
    WORLD_NAME_LOOKUP("channel", "channels", "guild_id");

const struct world_file_name_lookup emoji_naming = WORLD_NAME_LOOKUP("emoji", "emojis", "guild_id");
const struct world_file_name_lookup webhook_naming =
    WORLD_NAME_LOOKUP("webhook", "webhooks", "guild_id");

static enum err parse_reference_of_entry(struct world_file_importer *im, struct sql sql,
                                         struct value what, snowflake guild, bool scoped,
                                         snowflake *ret, int64_t *ret_count)
{
    const struct value values[] = { what, v_id(guild) };
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, sql, values, scoped ? 2 : 1, &row, &found);

    if (e)
        return e;
    *ret = row_id(&row, 0);
    *ret_count = row_int(&row, 1);
    return OK;
}

static struct value name_column_value(const struct world_file_importer *im,
                                      const struct world_file_name_lookup *n, struct str name)
{
    /* Usernames are stored in lower case. */
    return v_text(n == &user_naming ? str_lower(im->arena, str_trim(name)) : name);
}

enum err world_file_resolve_reference(struct world_file_importer *im,
                                      const struct world_file_name_lookup *n, snowflake guild,
                                      struct str to, const struct json_path *at, snowflake *ret)
{
    int64_t found = 0;
    snowflake id;
    bool is_id = snowflake_parse(to, &id);
    enum err e = OK;

    /* Entries of an archive refer to objects by id. So do not search by name there: the name of
     * another object could be the same number. */
    if (!im->options->files || !is_id)
        e = parse_reference_of_entry(im, n->by_name, name_column_value(im, n, to), guild, n->scoped,
                                     ret, &found);
    if (!e && found == 0 && is_id)
        e = parse_reference_of_entry(im, n->by_id, v_id(id), guild, n->scoped, ret, &found);
    if (e || found == 1)
        return e;
    *ret = 0;
    if (found > 1)
        form_add_error(im->form, at, "WORLD_AMBIGUOUS",
                       "there are %lld %ss called '%.*s': give the id", (long long)found, n->word,
                       STR_ARGS(form_shorten_quoted_value(to)));
    else
        form_add_error(im->form, at, "WORLD_UNKNOWN", "there is no %s '%.*s'", n->word,
                       STR_ARGS(form_shorten_quoted_value(to)));
    return OK;
}

enum err world_file_resolve_optional_reference(struct world_file_importer *im,
                                               const struct world_file_name_lookup *n,
                                               snowflake guild, const struct opt_str *to,
                                               const struct json_path *up, const char *name,
                                               snowflake *ret)
{
    struct json_path at = json_path_key(up, str_of(name));

    *ret = 0;
    return to->given == GIVEN ? world_file_resolve_reference(im, n, guild, to->value, &at, ret)
                              : OK;
}

static enum err find_existing_by_id(struct world_file_importer *im,
                                    const struct world_file_name_lookup *n, snowflake guild,
                                    snowflake id, struct str name, const struct json_path *at,
                                    snowflake *ret)
{
    struct json_path location = json_path_key(at, STR("id"));
    int64_t here = 0, anywhere = 0, named = 0;
    snowflake other;
    enum err e = parse_reference_of_entry(im, n->by_id, v_id(id), guild, n->scoped, ret, &here);

    if (!e && !here)
        e = parse_reference_of_entry(im, n->any_id, v_id(id), 0, false, &other, &anywhere);
    if (!e && !here && n->unique)
        e = parse_reference_of_entry(im, n->by_name, name_column_value(im, n, name), 0, false,
                                     &other, &named);
    if (e)
        return e;
    if (anywhere)
        form_add_error(im->form, &location, "WORLD_TAKEN", "this id belongs to another guild's %s",
                       n->word);
    if (named)
        form_add_error(im->form, &location, "WORLD_TAKEN", "there is a %s '%.*s' with another id",
                       n->word, STR_ARGS(name));
    if (id == 0)
        form_add_error(im->form, &location, "WORLD_TAKEN", "0 is not a valid id");
    return OK;
}

enum err world_file_find_existing_object(struct world_file_importer *im,
                                         const struct world_file_name_lookup *n, snowflake guild,
                                         struct opt_id id, struct str name,
                                         const struct json_path *at, snowflake *ret)
{
    struct json_path location = json_path_key(at, STR("name"));
    int64_t found = 0;

    if (id.given == GIVEN)
        return find_existing_by_id(im, n, guild, id.value, name, at, ret);
    enum err e = parse_reference_of_entry(im, n->by_name, name_column_value(im, n, name), guild,
                                          n->scoped, ret, &found);
    if (e || found < 2)
        return e;
    *ret = 0;
    form_add_error(im->form, &location, "WORLD_AMBIGUOUS",
                   "there are %lld %ss called '%.*s': give the id", (long long)found, n->word,
                   STR_ARGS(form_shorten_quoted_value(name)));
    return OK;
}

enum err world_file_resolve_entry_id(struct world_file_importer *im,
                                     const struct world_file_name_lookup *n, snowflake guild,
                                     struct opt_id id, struct str name, const struct json_path *at,
                                     snowflake *ret)
{
    unsigned before = im->form->problems;
    enum err e = world_file_find_existing_object(im, n, guild, id, name, at, ret);

    if (!e && !*ret && im->form->problems == before)
        *ret = id.given == GIVEN ? id.value : snowflake_new();
    return e;
}

enum err world_file_resolve_references(struct world_file_importer *im,
                                       const struct world_file_name_lookup *n, snowflake guild,
                                       const struct opt_list *names, const struct json_path *up,
                                       const char *name, struct list *ret)
{
    struct json_path all = json_path_key(up, str_of(name));
    const struct str *to = names->value.items;
    enum err e = OK;

    for (size_t i = 0; i < names->value.count && !e; i++) {
        struct json_path at = json_path_index(&all, i);

        e = world_file_resolve_reference(im, n, guild, to[i], &at,
                                         list_append(im->arena, ret, sizeof(snowflake)));
    }
    return e;
}

void count(struct world_file_importer *im, enum imported_object_kind what, bool made)
{
    struct imported_object_count *c = &im->report->counts[what];

    if (made)
        c->made++;
    else
        c->known++;
}

enum err world_file_import_entries(struct world_file_importer *im, const struct opt_list *list,
                                   size_t size, const struct json_path *all,
                                   world_import_function *step, snowflake owner)
{
    const char *entry = list->value.items;
    enum err e = OK;

    for (size_t i = 0; i < list->value.count && !e; i++, entry += size) {
        struct json_path at = json_path_index(all, i);

        e = step(im, entry, &at, owner);
        world_file_progress_add(im->options->progress, 1);
    }
    return e;
}

/* --- names for the export ------------------------------------------------------------- */

struct opt_str world_file_export_reference(struct tx *tx, const struct list *things, snowflake id)
{
    const struct exported_object_name *all = things->items, *found = NULL;
    size_t same = 0;

    for (size_t i = 0; i < things->count && !found; i++)
        if (all[i].id == id)
            found = &all[i];
    if (!found)
        return (struct opt_str){ .given = ABSENT };
    for (size_t i = 0; i < things->count; i++)
        same += str_eq(all[i].name, found->name);
    if (same == 1)
        return (struct opt_str){ GIVEN, found->name };
    return (struct opt_str){ GIVEN,
                             str_printf(tx_arena(tx), "%llu", (unsigned long long)found->id) };
}

struct opt_list world_file_export_references(struct tx *tx, const struct list *things,
                                             const struct list *ids)
{
    const snowflake *id = ids->items;
    struct opt_list out = { 0 };

    for (size_t i = 0; i < ids->count; i++) {
        struct opt_str to = world_file_export_reference(tx, things, id[i]);

        if (to.given == GIVEN)
            *(struct str *)export_add_list_item(tx, &out, sizeof(struct str)) = to.value;
    }
    return out;
}

static void object_name_from_row(const struct rows *r, void *ret)
{
    *(struct exported_object_name *)ret =
        (struct exported_object_name){ row_id(r, 0), row_text(r, 1) };
}

static enum err read_object_names(struct tx *tx, struct sql sql, const struct value *values,
                                  size_t count, struct list *ret)
{
    return tx_read_list(tx, sql, values, count, sizeof(struct exported_object_name),
                        object_name_from_row, ret);
}

static const char ROLE_NAMES[] = "select id, name from roles where guild_id = $1 and "
                                 "position >= 0 order by id";
static const char CHANNEL_NAMES[] = "select id, name from channels where guild_id = $1 order by id";
static const char EMOJI_NAMES[] = "select id, name from emojis where guild_id = $1 order by id";
static const char APPLICATION_NAMES[] = "select id, name from applications order by id";

enum err world_file_export_read_names(struct world_file_exporter *ex)
{
    ex->roles = ex->channels = ex->emojis = ex->applications = (struct list){ 0 };
    enum err e = read_object_names(ex->tx, SQL(ROLE_NAMES), BIND(v_id(ex->guild)), &ex->roles);
    if (!e)
        e = read_object_names(ex->tx, SQL(CHANNEL_NAMES), BIND(v_id(ex->guild)), &ex->channels);
    if (!e)
        e = read_object_names(ex->tx, SQL(EMOJI_NAMES), BIND(v_id(ex->guild)), &ex->emojis);
    return e ? e : read_object_names(ex->tx, SQL(APPLICATION_NAMES), NO_BIND, &ex->applications);
}
