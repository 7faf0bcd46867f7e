/* rows.c - SQL of commands. A row has the complete definition as JSON. It also has the JSON for
 * lists and indexes, which therefore copy text instead of encoding commands. Other columns have
 * data for queries and permission checks. */
#include "commands/internal.h"

#include "commands/form_errors.h"
#include "json/read.h"
#include "model/fields/rows.h"

enum err decode_command_definition(struct arena *arena, struct str definition, struct command *ret)
{
    const struct command *k = json_column_decode(arena, &type_command_stored, definition);

    if (!k)
        return ERR_UNKNOWN_COMMAND;
    *ret = *k;
    return OK;
}

static const char FIND_COMMAND[] =
    "select d.definition from commands c join command_definitions d on d.command_id = c.id "
    "where c.id = $1 and c.application_id = $2";

static const char READ_COLUMNS[] =
    "select guild_id, type, name, version, default_member_permissions from commands "
    "where id = $1 and application_id = $2";

enum err read_command_columns(struct tx *tx, snowflake application_id, snowflake command_id,
                              struct command *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, READ_COLUMNS, BIND(v_id(command_id), v_id(application_id)),
                           ERR_UNKNOWN_COMMAND, &row);

    if (e)
        return e;
    *ret = new_empty_command(row_id(&row, 0));
    ret->id = command_id;
    ret->application_id = application_id;
    ret->type = row_int(&row, 1);
    ret->name = row_text(&row, 2);
    ret->version = row_id(&row, 3);
    ret->default_member_permissions = row_optional_id(&row, 4);
    return OK;
}

/* Maximum size in bytes of a short definition. Longer definitions take milliseconds to decode. */
enum { SHORT_DEFINITION = 32 * 1024 };

enum err read_command(struct tx *tx, snowflake application_id, snowflake command_id,
                      struct command *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, FIND_COMMAND, BIND(v_id(command_id), v_id(application_id)),
                           ERR_UNKNOWN_COMMAND, &row);

    if (!e && row_text(&row, 0).n > SHORT_DEFINITION)
        e = tx_require_background_thread(tx);
    return e ? e : decode_command_definition(tx_arena(tx), row_text(&row, 0), ret);
}

#define COLUMNS "select c.id, c.application_id, c.guild_id, c.version, c.type, c.name"
#define WITH_DEFINITION \
    COLUMNS ", d.definition from commands c join command_definitions d on d.command_id = c.id "
/* SQL columns of a command without its texts, so that SQLite does not read their overflow pages. */
#define WITHOUT_DEFINITION COLUMNS ", '' from commands c "

static void command_row_from_result_row(const struct rows *r, void *ret)
{
    *(struct command_row *)ret = (struct command_row){
        .id = row_id(r, 0),
        .application_id = row_id(r, 1),
        .guild_id = row_id(r, 2),
        .version = row_id(r, 3),
        .type = row_int(r, 4),
        .name = row_text(r, 5),
        .definition = row_text(r, 6),
    };
}

#define OF_SCOPE "where c.application_id = $1 and c.guild_id = $2 order by c.id"
#define NAMED    "where c.application_id = $1 and c.guild_id = $2 and c.type = $3 and c.name = $4"
#define BY_ID    "where c.id = $1"

static enum err query_command_rows(struct tx *tx, struct sql sql, const struct value *values,
                                   size_t count, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, sql, values, count, sizeof(struct command_row),
                        command_row_from_result_row, ret);
}

enum err read_command_rows(struct tx *tx, snowflake application_id, snowflake guild_id, bool whole,
                           struct list *ret)
{
    return query_command_rows(
        tx, whole ? SQL(WITH_DEFINITION OF_SCOPE) : SQL(WITHOUT_DEFINITION OF_SCOPE),
        BIND(v_id(application_id), v_id(guild_id)), ret);
}

enum err read_command_rows_by_name(struct tx *tx, snowflake application_id, snowflake guild_id,
                                   int64_t type, struct str name, bool whole, struct list *ret)
{
    return query_command_rows(
        tx, whole ? SQL(WITH_DEFINITION NAMED) : SQL(WITHOUT_DEFINITION NAMED),
        BIND(v_id(application_id), v_id(guild_id), v_int(type), v_text(name)), ret);
}

enum err read_command_row_by_id(struct tx *tx, snowflake id, bool whole, struct list *ret)
{
    return query_command_rows(tx,
                              whole ? SQL(WITH_DEFINITION BY_ID) : SQL(WITHOUT_DEFINITION BY_ID),
                              BIND(v_id(id)), ret);
}

/* Encodes the definition. Returns false if the definition has more than COMMAND_MAX_BYTES. */
static bool encode_stored_definition(struct arena *arena, const struct command *k, struct str *ret)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, COMMAND_MAX_BYTES);
    schema_encode(&j, &type_command_stored, k);
    bool fits = !buf_is_full(&out);
    if (fits)
        *ret = buf_move_to_arena(&out, arena);
    buf_clear(&out);
    return fits;
}

bool command_equals_row(struct arena *arena, const struct command *k, const struct command_row *row)
{
    struct command same = *k;
    struct str text;

    same.version = row->version;
    return encode_stored_definition(arena, &same, &text) && str_eq(text, row->definition);
}

static bool options_have_hidden_fields(const struct list *options)
{
    const struct command_option *o = options->items;

    for (size_t i = 0; i < options->count; i++)
        if (o[i].file_types.given == GIVEN || options_have_hidden_fields(&o[i].options.value))
            return true;
    return false;
}

/* Encodes the definition, and checks that it has no more values than the JSON reader accepts. Only
 * long definitions need the check, because a value has at least two bytes. */
static bool encode_valid_definition(struct arena *arena, const struct command *k, struct str *ret)
{
    return encode_stored_definition(arena, k, ret) &&
           (ret->n < 2 * JSON_MAX_VALUES || json_is_valid(*ret));
}

enum err encode_command(struct arena *arena, const struct command *k, struct form *form,
                        const struct json_path *here, struct encoded_command *ret)
{
    if (!encode_valid_definition(arena, k, &ret->definition)) {
        form_add_error(form, here, FORM_TOO_MANY_BYTES, (int)COMMAND_MAX_BYTES);
        return ERR_INVALID_FORM_BODY;
    }
    ret->plain = json_column_encode(arena, &type_command_unlocalized, k);
    ret->locales = (int64_t)command_locale_bits(k);
    ret->hidden = options_have_hidden_fields(&k->options.value);
    return OK;
}

struct encoded_command encoded_command_from_row(const struct command *k,
                                                const struct command_row *row)
{
    return (struct encoded_command){ .definition = row->definition,
                                     .hidden = options_have_hidden_fields(&k->options.value) };
}

struct str build_command_reply_json(struct arena *arena, const struct command *k,
                                    const struct encoded_command *texts)
{
    return texts->hidden ? json_column_encode(arena, &type_command, k) : texts->definition;
}

static const char SET_DEFINITION[] =
    "insert into command_definitions (command_id, definition) values ($1, $2) "
    "on conflict (command_id) do update set definition = excluded.definition";

static enum err store_command_definition(struct tx *tx, const struct command *k,
                                         struct str definition)
{
    return tx_exec(tx, SET_DEFINITION, BIND(v_id(k->id), v_text(definition)), NULL);
}

static const char ADD_COMMAND[] =
    "insert into commands (id, application_id, guild_id, type, name, version, "
    "default_member_permissions, nsfw, contexts, integration_types, locales, hidden, plain) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

enum err insert_command(struct tx *tx, const struct command *k, const struct encoded_command *texts)
{
    enum err e = tx_exec(tx, ADD_COMMAND,
                         BIND(v_id(k->id), v_id(k->application_id), v_id(k->guild_id.value),
                              v_int(k->type), v_text(k->name), v_id(k->version),
                              sql_value_of_optional_id(k->default_member_permissions),
                              v_int(k->nsfw), v_int(command_get_context_bits(k)),
                              v_int(command_get_integration_type_bits(k)), v_int(texts->locales),
                              v_int(texts->hidden), v_text(texts->plain)),
                         NULL);

    return e ? e : store_command_definition(tx, k, texts->definition);
}

static const char SAVE_COMMAND[] =
    "update commands set name = $2, version = $3, default_member_permissions = $4, nsfw = $5, "
    "contexts = $6, integration_types = $7, locales = $8, hidden = $9, plain = $10 "
    "where id = $1";

enum err update_command(struct tx *tx, const struct command *k, const struct encoded_command *texts)
{
    enum err e = tx_exec(tx, SAVE_COMMAND,
                         BIND(v_id(k->id), v_text(k->name), v_id(k->version),
                              sql_value_of_optional_id(k->default_member_permissions),
                              v_int(k->nsfw), v_int(command_get_context_bits(k)),
                              v_int(command_get_integration_type_bits(k)), v_int(texts->locales),
                              v_int(texts->hidden), v_text(texts->plain)),
                         NULL);

    return e ? e : store_command_definition(tx, k, texts->definition);
}

/* Replaces the name of a command by a unique name, so that another command can take the name. The
 * unique name begins with a space, as no valid name does. */
static const char CLEAR_COMMAND_NAME[] =
    "update commands set name = ' ' || cast(id as text) where id = $1";

enum err set_placeholder_name_of_command(struct tx *tx, snowflake id)
{
    return tx_exec(tx, CLEAR_COMMAND_NAME, BIND(v_id(id)), NULL);
}

static const char DELETE_COMMAND[] = "delete from commands where id = $1";

enum err delete_command_row(struct tx *tx, snowflake id)
{
    return tx_exec(tx, DELETE_COMMAND, BIND(v_id(id)), NULL);
}
