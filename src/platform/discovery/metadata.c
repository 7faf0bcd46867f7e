/* metadata.c - the entry of a guild in the public list: category, keywords and texts. */
#include "model/fields/rows.h"
#include "platform/discovery/internal.h"

struct discovery_reason {
    struct str reason;
    struct opt_id emoji_id;
    struct opt_str emoji_name;
};
struct discovery_metadata {
    snowflake guild_id;
    int64_t primary_category_id;
    struct opt_list keywords; /* struct str */
    bool emoji_discoverability_enabled, is_published;
    struct opt_int partner_actioned_timestamp, partner_application_timestamp; /* always null */
    struct list reasons_to_join;                                              /* discovery_reason */
    struct opt_list social_links;                                             /* struct str */
    struct opt_str about;
    struct list category_ids; /* int64_t */
};
struct discovery_metadata_patch {
    struct opt_int primary_category_id;
    struct opt_list keywords, reasons_to_join, social_links;
    struct opt_bool emoji_discoverability_enabled, is_published;
    struct opt_str about;
};

/* --- schemas ---------------------------------------------------------------------------- */

#define MAYBE (OPTIONAL | NULLABLE)

static const struct type type_keyword = { .kind = KIND_STRING,
                                          .flags = TYPE_TRIM,
                                          .min = 1,
                                          .max = DISCOVERY_KEYWORD_MAX,
                                          .rule = &rule_visible_name };
const struct type discovery_keywords_type = { .kind = KIND_ARRAY,
                                              .max = DISCOVERY_MAX_KEYWORDS,
                                              .of = &type_keyword };
const struct type discovery_category_ids_type = { .kind = KIND_ARRAY, .of = &type_int };
static const struct type type_social_link = { .kind = KIND_STRING, .min = 1, .max = 256 };
static const struct type type_social_links = { .kind = KIND_ARRAY,
                                               .max = 9,
                                               .of = &type_social_link };
static const struct type type_about = { .kind = KIND_STRING, .max = 2400 };
static const struct type type_reason_text = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_emoji_name = { .kind = KIND_STRING, .max = 32 };

static const struct field reason_fields[] = {
    { FIELD(struct discovery_reason, reason), .type = &type_reason_text },
    { FIELD(struct discovery_reason, emoji_id), .type = &type_id, .flags = MAYBE },
    { FIELD(struct discovery_reason, emoji_name), .type = &type_emoji_name, .flags = MAYBE },
    { 0 },
};
static const struct schema reason_schema = {
    .name = "DiscoveryReason",
    .size = sizeof(struct discovery_reason),
    .fields = reason_fields,
    .doc = "A reason to join a guild.",
};
static const struct type type_reason = { .kind = KIND_OBJECT, .schema = &reason_schema };
static const struct type type_reasons = { .kind = KIND_ARRAY, .max = 4, .of = &type_reason };

static const struct field patch_fields[] = {
    { FIELD(struct discovery_metadata_patch, primary_category_id), .type = &type_int,
      .flags = MAYBE, .doc = "A primary category; default 0" },
    { FIELD(struct discovery_metadata_patch, keywords), .type = &discovery_keywords_type,
      .flags = MAYBE },
    { FIELD(struct discovery_metadata_patch, emoji_discoverability_enabled), .type = &type_bool,
      .flags = MAYBE, .doc = "Stored; default true" },
    { FIELD(struct discovery_metadata_patch, is_published), .type = &type_bool, .flags = MAYBE,
      .doc = "Stored; default false" },
    { FIELD(struct discovery_metadata_patch, reasons_to_join), .type = &type_reasons,
      .flags = MAYBE },
    { FIELD(struct discovery_metadata_patch, social_links), .type = &type_social_links,
      .flags = MAYBE },
    { FIELD(struct discovery_metadata_patch, about), .type = &type_about, .flags = MAYBE },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "DiscoveryMetadataPatch",
    .size = sizeof(struct discovery_metadata_patch),
    .fields = patch_fields,
    .doc = "The new entry of a guild. A field that is absent or null gets its default.",
};
const struct type discovery_metadata_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

/* clang-format off */
#define AUDITED_FIELDS                                                                             \
    { FIELD(struct discovery_metadata, primary_category_id), .type = &type_int },                  \
    { FIELD(struct discovery_metadata, keywords), .type = &discovery_keywords_type,                \
      .flags = NULLABLE },                                                                         \
    { FIELD(struct discovery_metadata, emoji_discoverability_enabled), .type = &type_bool },       \
    { FIELD(struct discovery_metadata, is_published), .type = &type_bool },                        \
    { FIELD(struct discovery_metadata, reasons_to_join), .type = &type_reasons },                  \
    { FIELD(struct discovery_metadata, social_links), .type = &type_social_links,                  \
      .flags = NULLABLE },                                                                         \
    { FIELD(struct discovery_metadata, about), .type = &type_about, .flags = NULLABLE },           \
    { FIELD(struct discovery_metadata, category_ids), .type = &discovery_category_ids_type }
/* clang-format on */

static const struct field audited_fields[] = { AUDITED_FIELDS, { 0 } };
static const struct field metadata_fields[] = {
    { FIELD(struct discovery_metadata, guild_id), .type = &type_id },
    AUDITED_FIELDS,
    { FIELD(struct discovery_metadata, partner_actioned_timestamp), .type = &type_time,
      .flags = NULLABLE },
    { FIELD(struct discovery_metadata, partner_application_timestamp), .type = &type_time,
      .flags = NULLABLE },
    { 0 },
};
static const struct schema metadata_schema = {
    .name = "DiscoveryMetadata",
    .size = sizeof(struct discovery_metadata),
    .fields = metadata_fields,
    .doc = "The entry of a guild in the public list. It is shown while the guild has the feature "
           "DISCOVERABLE.",
};
const struct type discovery_metadata_reply = { .kind = KIND_OBJECT, .schema = &metadata_schema };

/* --- rows ------------------------------------------------------------------------------- */

static struct opt_list read_optional_list(const struct rows *r, int column, const struct type *type)
{
    if (row_column_is_null(r, column))
        return (struct opt_list){ .given = GIVEN_NULL };
    return (struct opt_list){ GIVEN,
                              json_column_decode_list(tx_arena(r->tx), type, row_text(r, column)) };
}

static struct value optional_list_value(struct tx *tx, const struct type *type,
                                        const struct opt_list *list)
{
    return list->given == GIVEN ? v_text(json_column_encode(tx_arena(tx), type, &list->value))
                                : v_null();
}

static const char FIND_METADATA[] =
    "select primary_category_id, keywords, emoji_discoverability_enabled, is_published, "
    "reasons_to_join, social_links, about, category_ids from guild_discovery where guild_id = $1";

/* Reads category, keywords and texts of a guild. If the guild has no row, they have their
 * defaults. */
static enum err discovery_metadata_read(struct tx *tx, snowflake guild_id,
                                        struct discovery_metadata *ret)
{
    struct arena *arena = tx_arena(tx);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, FIND_METADATA, BIND(v_id(guild_id)), &r, &found);

    *ret = (struct discovery_metadata){ .guild_id = guild_id,
                                        .keywords.given = GIVEN_NULL,
                                        .emoji_discoverability_enabled = true,
                                        .social_links.given = GIVEN_NULL,
                                        .about.given = GIVEN_NULL };
    if (e || !found)
        return e;
    ret->primary_category_id = row_int(&r, 0);
    ret->keywords = read_optional_list(&r, 1, &discovery_keywords_type);
    ret->emoji_discoverability_enabled = row_bool(&r, 2);
    ret->is_published = row_bool(&r, 3);
    ret->reasons_to_join = json_column_decode_list(arena, &type_reasons, row_text(&r, 4));
    ret->social_links = read_optional_list(&r, 5, &type_social_links);
    ret->about = row_optional_text(&r, 6);
    ret->category_ids =
        json_column_decode_list(arena, &discovery_category_ids_type, row_text(&r, 7));
    return OK;
}

static const char SAVE_METADATA[] =
    "insert into guild_discovery (guild_id, primary_category_id, keywords, "
    "emoji_discoverability_enabled, is_published, reasons_to_join, social_links, about, "
    "category_ids) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (guild_id) do update "
    "set primary_category_id = excluded.primary_category_id, keywords = excluded.keywords, "
    "emoji_discoverability_enabled = excluded.emoji_discoverability_enabled, "
    "is_published = excluded.is_published, reasons_to_join = excluded.reasons_to_join, "
    "social_links = excluded.social_links, about = excluded.about, "
    "category_ids = excluded.category_ids";

static enum err discovery_metadata_save(struct call *call, const struct discovery_metadata *before,
                                        const struct discovery_metadata *now)
{
    struct tx *tx = call->tx;
    struct arena *arena = tx_arena(tx);
    enum err e = tx_exec(
        tx, SAVE_METADATA,
        BIND(v_id(now->guild_id), v_int(now->primary_category_id),
             optional_list_value(tx, &discovery_keywords_type, &now->keywords),
             v_int(now->emoji_discoverability_enabled), v_int(now->is_published),
             v_text(json_column_encode(arena, &type_reasons, &now->reasons_to_join)),
             optional_list_value(tx, &type_social_links, &now->social_links),
             sql_value_of_optional_text(now->about),
             v_text(json_column_encode(arena, &discovery_category_ids_type, &now->category_ids))),
        NULL);

    return e ? e
             : audit_log_record_object_change(call, now->guild_id, AUDIT_GUILD_UPDATE,
                                              now->guild_id, audited_fields, before, now);
}

/* --- handlers --------------------------------------------------------------------------- */

enum err get_discovery_metadata(struct call *call)
{
    struct discovery_metadata now;
    enum err e = discovery_metadata_read(call->tx, call->target.guild->id, &now);

    return e ? e : call_reply_with_object(call, &now);
}

static struct opt_list optional_list_or_null(struct opt_list in)
{
    if (in.given != GIVEN)
        in = (struct opt_list){ .given = GIVEN_NULL };
    return in;
}

enum err modify_discovery_metadata(struct call *call)
{
    const struct discovery_metadata_patch *in = call->body;
    struct discovery_metadata before, now;
    enum err e = discovery_metadata_read(call->tx, call->target.guild->id, &before);

    if (e)
        return e;
    int64_t category = in->primary_category_id.given == GIVEN ? in->primary_category_id.value : 0;
    const struct discovery_category *primary = discovery_category_find(category);
    if (!primary || !primary->is_primary)
        return call_add_field_error(call, "primary_category_id", FORM_CHOICES,
                                    "Value must be the id of a primary category.");
    now = (struct discovery_metadata){
        .guild_id = before.guild_id,
        .primary_category_id = category,
        .keywords = optional_list_or_null(in->keywords),
        .emoji_discoverability_enabled = in->emoji_discoverability_enabled.given != GIVEN ||
                                         in->emoji_discoverability_enabled.value,
        .is_published = in->is_published.given == GIVEN && in->is_published.value,
        .reasons_to_join = in->reasons_to_join.value,
        .social_links = optional_list_or_null(in->social_links),
        .about = in->about.given == GIVEN ? in->about : (struct opt_str){ .given = GIVEN_NULL },
        .category_ids = before.category_ids,
    };
    e = discovery_metadata_save(call, &before, &now);
    return e ? e : call_reply_with_object(call, &now);
}

static struct list copy_category_ids_without(struct arena *arena, const struct list *ids,
                                             int64_t id)
{
    const int64_t *items = ids->items;
    struct list out = { 0 };

    for (size_t i = 0; i < ids->count; i++)
        if (items[i] != id)
            *(int64_t *)list_append(arena, &out, sizeof *items) = items[i];
    return out;
}

static enum err change_discovery_category(struct call *call, bool add)
{
    struct discovery_metadata before, now;
    int64_t id;
    enum err e = discovery_metadata_read(call->tx, call->target.guild->id, &before);

    if (!str_to_i64(call_get_path_text(call, "discovery_category.id"), &id) ||
        !discovery_category_find(id))
        return ERR_UNKNOWN_DISCOVERY_CATEGORY;
    if (e)
        return e;
    now = before;
    now.category_ids = copy_category_ids_without(call->arena, &before.category_ids, id);
    if (add && now.category_ids.count >= DISCOVERY_MAX_SUBCATEGORIES)
        return ERR_MAX_DISCOVERY_CATEGORIES;
    if (add)
        *(int64_t *)list_append(call->arena, &now.category_ids, sizeof id) = id;
    return discovery_metadata_save(call, &before, &now);
}

enum err add_discovery_category(struct call *call)
{
    return change_discovery_category(call, true);
}

enum err remove_discovery_category(struct call *call)
{
    return change_discovery_category(call, false);
}
