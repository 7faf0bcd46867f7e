/* rows.c - SQL and JSON schema of guild templates. */
#include <sodium.h>

#include "model/fields/rows.h"
#include "platform/templates/internal.h"

/* clang-format off */
#define TEMPLATE_FIELDS                                                                            \
    { FIELD(struct guild_template, code), .type = &type_text },                                    \
    { FIELD(struct guild_template, name), .type = &type_text },                                    \
    { FIELD(struct guild_template, description), .type = &type_text, .flags = NULLABLE },          \
    { FIELD(struct guild_template, usage_count), .type = &type_count },                            \
    { FIELD(struct guild_template, creator_id), .type = &type_id },                                \
    { FIELD(struct guild_template, creator), .type = &type_partial_user, .flags = NULLABLE },      \
    { FIELD(struct guild_template, created_at), .type = &type_time },                              \
    { FIELD(struct guild_template, updated_at), .type = &type_time },                              \
    { FIELD(struct guild_template, source_guild_id), .type = &type_id },                           \
    { FIELD(struct guild_template, is_dirty), .type = &type_bool, .flags = NULLABLE,               \
      .doc = "True if the guild has changed since the last sync" }
/* clang-format on */

static const struct field template_fields[] = {
    TEMPLATE_FIELDS,
    { FIELD_AS(struct guild_template, shape, "serialized_source_guild"),
      .type = &type_template_source },
    { 0 },
};
static const struct schema guild_template_schema = {
    .name = "GuildTemplate",
    .size = sizeof(struct guild_template),
    .fields = template_fields,
    .doc = "Settings, roles and channels of a guild, to create other guilds from.",
};
const struct type type_guild_template = { .kind = KIND_OBJECT, .schema = &guild_template_schema };
const struct type type_guild_templates = { .kind = KIND_ARRAY, .of = &type_guild_template };

/* Fields of a reply; the serialized guild is inserted as the JSON that is stored. */
static const struct field stored_fields[] = {
    TEMPLATE_FIELDS,
    { FIELD(struct guild_template, serialized_source_guild), .type = &type_raw },
    { 0 },
};
static const struct schema stored_template_schema = {
    .name = "KeptTemplate",
    .size = sizeof(struct guild_template),
    .fields = stored_fields,
    .doc = "A template as it is stored.",
};
const struct type type_stored_template = { .kind = KIND_OBJECT, .schema = &stored_template_schema };
const struct type type_stored_templates = { .kind = KIND_ARRAY, .of = &type_stored_template };

#define TEMPLATES                                                                                 \
    "select code, guild_id, name, description, creator_id, usage_count, created_at, updated_at, " \
    "source, source_size, digest from guild_templates where "                                     \
    "exists (select 1 from guilds g where g.id = guild_id and g.removed = 0) and "

static enum err read_template_with_sql(struct tx *tx, struct sql sql, struct value key,
                                       struct guild_template *ret, bool *ret_found)
{
    struct rows r;
    enum err e = tx_one(tx, sql, &key, 1, &r, ret_found);

    if (e || !*ret_found)
        return e;
    *ret = (struct guild_template){
        .code = row_text(&r, 0),
        .source_guild_id = row_id(&r, 1),
        .name = row_text(&r, 2),
        .description = row_optional_text(&r, 3),
        .creator_id = row_id(&r, 4),
        .usage_count = row_int(&r, 5),
        .created_at = row_int(&r, 6),
        .updated_at = row_int(&r, 7),
        .packed = row_bytes(&r, 8),
        .size = row_int(&r, 9),
        .digest = row_bytes(&r, 10),
    };
    return OK;
}

enum err template_find(struct tx *tx, struct str code, struct guild_template *ret)
{
    bool found;
    enum err e = read_template_with_sql(tx, SQL(TEMPLATES "code = $1"), v_text(code), ret, &found);

    return e || found ? e : ERR_UNKNOWN_TEMPLATE;
}

enum err template_find_of_guild(struct tx *tx, snowflake guild_id, struct guild_template *ret,
                                bool *ret_found)
{
    return read_template_with_sql(tx, SQL(TEMPLATES "guild_id = $1"), v_id(guild_id), ret,
                                  ret_found);
}

enum err template_read_creator_and_serialized_guild(struct tx *tx, struct guild_template *t)
{
    struct user *creator = arena_alloc(tx_arena(tx), sizeof *creator);
    enum err e = user_find(tx, t->creator_id, creator);

    t->creator = e ? NULL : creator;
    if (e && e != ERR_UNKNOWN_USER)
        return e;
    return template_source_guild_decompress(tx_arena(tx), t->packed, t->size,
                                            &t->serialized_source_guild);
}

/* --- writing -------------------------------------------------------------------------- */

static struct str new_template_code(struct arena *arena)
{
    static const char digits[] = "23456789ABCDEFGHJKMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz";
    char *code = arena_alloc(arena, 12);

    for (int i = 0; i < 12; i++)
        code[i] = digits[randombytes_uniform(sizeof digits - 1)];
    return str_slice(code, 12);
}

static const char ADD_TEMPLATE[] =
    "insert into guild_templates (code, guild_id, name, description, creator_id, created_at, "
    "updated_at, source, source_size, digest) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
    "on conflict do nothing";

enum err template_insert(struct tx *tx, struct guild_template *t)
{
    int64_t added;

    t->code = new_template_code(tx_arena(tx));
    enum err e = tx_exec(tx, ADD_TEMPLATE,
                         BIND(v_text(t->code), v_id(t->source_guild_id), v_text(t->name),
                              sql_value_of_optional_text(t->description), v_id(t->creator_id),
                              v_int(t->created_at), v_int(t->updated_at), v_bytes(t->packed),
                              v_int(t->size), v_bytes(t->digest)),
                         &added);

    return e || added ? e : ERR_HAS_TEMPLATE;
}

static const char READ_CHANGEABLE_FIELDS[] =
    "select name, description, usage_count, updated_at from guild_templates where code = $1 and "
    "exists (select 1 from guilds g where g.id = guild_id and g.removed = 0)";

enum err template_reread_fields_except_guild(struct tx *tx, struct guild_template *t)
{
    struct rows r;
    enum err e =
        tx_one_or(tx, READ_CHANGEABLE_FIELDS, BIND(v_text(t->code)), ERR_UNKNOWN_TEMPLATE, &r);

    if (e)
        return e;
    t->name = row_text(&r, 0);
    t->description = row_optional_text(&r, 1);
    t->usage_count = row_int(&r, 2);
    t->updated_at = row_int(&r, 3);
    return OK;
}

enum err template_save_fields(struct tx *tx, const struct guild_template *t)
{
    return tx_exec(tx,
                   "update guild_templates set name = $2, description = $3, updated_at = $4 "
                   "where code = $1",
                   BIND(v_text(t->code), v_text(t->name),
                        sql_value_of_optional_text(t->description), v_int(t->updated_at)),
                   NULL);
}

enum err template_save_serialized_guild(struct tx *tx, const struct guild_template *t)
{
    return tx_exec(tx,
                   "update guild_templates set source = $2, source_size = $3, digest = $4, "
                   "updated_at = $5 where code = $1",
                   BIND(v_text(t->code), v_bytes(t->packed), v_int(t->size), v_bytes(t->digest),
                        v_int(t->updated_at)),
                   NULL);
}

enum err template_delete(struct tx *tx, struct str code)
{
    return tx_exec(tx, "delete from guild_templates where code = $1", BIND(v_text(code)), NULL);
}

enum err template_increment_usage(struct tx *tx, struct str code)
{
    return tx_exec(tx, "update guild_templates set usage_count = usage_count + 1 where code = $1",
                   BIND(v_text(code)), NULL);
}

/* --- entries -------------------------------------------------------------------------- */

enum err template_summary_read(struct tx *tx, snowflake guild_id, struct template_summary *ret,
                               bool *ret_found)
{
    struct guild_template t;
    enum err e = template_find_of_guild(tx, guild_id, &t, ret_found);

    if (e || !*ret_found)
        return e;
    *ret = (struct template_summary){ .guild_id = guild_id,
                                      .creator_id = t.creator_id,
                                      .code = t.code,
                                      .name = t.name,
                                      .description = t.description,
                                      .usage_count = t.usage_count,
                                      .created_at = t.created_at,
                                      .updated_at = t.updated_at };
    return OK;
}

static const char PUT_TEMPLATE[] =
    "insert into guild_templates (code, guild_id, name, description, creator_id, usage_count, "
    "created_at, updated_at, source, source_size, digest) values ($1, $2, $3, $4, $5, $6, $7, $8, "
    "$9, $10, $11) on conflict (guild_id) do update set code = $1, name = $3, description = $4, "
    "creator_id = $5, usage_count = $6, created_at = $7, updated_at = $8, source = $9, "
    "source_size = $10, digest = $11";

static enum err template_code_is_unused(struct tx *tx, const struct template_summary *t, bool *ret)
{
    bool found;
    enum err e = tx_exists(tx, "select 1 from guild_templates where code = $1 and guild_id <> $2",
                           BIND(v_text(t->code), v_id(t->guild_id)), &found);

    *ret = !found;
    return e;
}

enum err template_save_from_guild(struct tx *tx, struct template_summary *t)
{
    struct arena *arena = tx_arena(tx);
    struct template_source_guild source;
    struct encoded_source_guild text;
    bool is_free;

    if (!t->code.n)
        t->code = new_template_code(arena);
    enum err e = template_code_is_unused(tx, t, &is_free);
    if (!e)
        e = template_source_guild_read(tx, t->guild_id, &source);
    if (e || !is_free)
        return e ? e : ERR_HAS_TEMPLATE;
    template_source_guild_encode(arena, &source, &text);
    return tx_exec(tx, PUT_TEMPLATE,
                   BIND(v_text(t->code), v_id(t->guild_id), v_text(t->name),
                        sql_value_of_optional_text(t->description), v_id(t->creator_id),
                        v_int(t->usage_count), v_int(t->created_at), v_int(t->updated_at),
                        v_bytes(template_source_guild_compress(arena, text.json)),
                        v_int((int64_t)text.json.n),
                        v_bytes(str_slice((const char *)text.digest, sizeof text.digest))),
                   NULL);
}
