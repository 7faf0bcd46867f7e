/* world.c - import and export of SKUs and entitlements in world files (JSON data sets). */
#include "platform/entitlements/internal.h"
#include "platform/worlds/import_export.h"

#include <ctype.h>

#include "base/mem.h"
#include "model/entitlement.h"

struct world_sku {
    struct opt_id id;
    struct str name;
    struct opt_str type;
    struct opt_int flags;
};
struct world_entitlement {
    struct str sku;
    struct opt_str user, guild; /* exactly one of user and guild is present */
    struct opt_int ends_at;
    struct opt_bool test;
};

static const struct enum_choice sku_types[] = {
    { 0, "durable", "DURABLE", "Permanent" },
    { 0, "consumable", "CONSUMABLE", "Used up" },
    { 0, "subscription", "SUBSCRIPTION", "A recurring subscription" },
    { 0, "subscription_group", "SUBSCRIPTION_GROUP", "A group of subscriptions" },
    { 0 },
};
static const struct type type_sku_type = { .kind = KIND_STRING, .choices = sku_types };
static const struct field sku_fields[] = {
    MAYBE(struct world_sku, id, type_id),
    MUST(struct world_sku, name, type_world_name),
    MAYBE(struct world_sku, type, type_sku_type),
    MAYBE(struct world_sku, flags, type_count),
    { 0 },
};
WORLD_LIST(sku, sku_fields, NULL, 0, 100);

static const struct field entitlement_fields[] = {
    MUST(struct world_entitlement, sku, type_world_ref),
    MAYBE(struct world_entitlement, user, type_world_ref),
    MAYBE(struct world_entitlement, guild, type_world_ref),
    MAYBE(struct world_entitlement, ends_at, type_time),
    MAYBE(struct world_entitlement, test, type_bool),
    { 0 },
};

WORLD_OBJECT(entitlement, entitlement_fields, NULL);

static const struct world_file_name_lookup sku_naming =
    WORLD_NAME_LOOKUP("SKU", "skus", "application_id");

/* Names of the SKU types in world files. The default is "subscription". */
static const struct {
    const char *word;
    int64_t type;
} sku_words[] = {
    { "durable", SKU_DURABLE },
    { "consumable", SKU_CONSUMABLE },
    { "subscription", SKU_SUBSCRIPTION },
    { "subscription_group", SKU_GROUP },
};

static int64_t sku_type_from_word(const struct world_sku *in)
{
    for (size_t i = 0; i < COUNT_OF(sku_words); i++)
        if (in->type.given == GIVEN && str_is(in->type.value, sku_words[i].word))
            return sku_words[i].type;
    return SKU_SUBSCRIPTION;
}

/* --- import from a world file -------------------------------------------------------- */

static const char SAVE_SKU[] =
    "insert into skus (id, application_id, type, name, slug, flags) values ($1, $2, $3, $4, $5, "
    "$6) on conflict (id) do update set type = excluded.type, name = excluded.name, "
    "slug = excluded.slug, flags = excluded.flags";

/* Converts a name to lower case and replaces each sequence of characters other than letters and
 * digits with a dash. */
static struct str make_slug_of_sku_name(struct arena *arena, struct str name)
{
    char *out = arena_alloc(arena, name.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];

        if (c >= 128 || isalnum(c))
            out[n++] = c < 128 ? (char)tolower(c) : (char)c;
        else if (n && out[n - 1] != '-')
            out[n++] = '-';
    }
    return str_slice(out, n && out[n - 1] == '-' ? n - 1 : n);
}

static enum err import_sku(struct world_file_importer *im, const void *entry,
                           const struct json_path *at, snowflake application)
{
    const struct world_sku *in = entry;
    snowflake id = 0;
    enum err e =
        world_file_resolve_entry_id(im, &sku_naming, application, in->id, in->name, at, &id);

    if (e || !id)
        return e;
    return tx_exec(im->tx, SAVE_SKU,
                   BIND(v_id(id), v_id(application), v_int(sku_type_from_word(in)),
                        v_text(in->name), v_text(make_slug_of_sku_name(im->arena, in->name)),
                        v_int(in->flags.given == GIVEN ? in->flags.value : SKU_AVAILABLE)),
                   NULL);
}

/* Selects the data for a new entitlement. If the owner already has an entitlement to the SKU,
 * selects no row, and the world file's entry is skipped. */
static const char FIND_NEW_ENTITLEMENT[] =
    "select k.application_id, k.type, (select owner_id from guilds where id = $3) from skus k "
    "where k.id = $1 and not exists (select 1 from entitlements e where e.sku_id = $1 and "
    "e.deleted_at is null and ((e.guild_id is null and e.user_id = $2) or e.guild_id = $3))";

static enum err import_entitlement(struct world_file_importer *im, const void *entry,
                                   const struct json_path *at, snowflake application)
{
    const struct world_entitlement *in = entry;
    struct json_path sku_at = json_path_key(at, STR("sku"));
    unsigned before = im->form->problems;
    snowflake sku = 0, user = 0, guild = 0;
    struct rows row;
    bool found;
    enum err e = world_file_resolve_reference(im, &sku_naming, application, in->sku, &sku_at, &sku);

    if ((in->user.given == GIVEN) == (in->guild.given == GIVEN))
        form_add_error(im->form, at, "WORLD_ONE_OWNER",
                       "an entitlement needs either a user or a guild");
    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->user, at, "user",
                                                  &user);
    if (!e)
        e = world_file_resolve_optional_reference(im, &guild_naming, 0, &in->guild, at, "guild",
                                                  &guild);
    if (e || im->form->problems != before)
        return e;
    e = tx_one(im->tx, FIND_NEW_ENTITLEMENT, BIND(v_id(sku), v_id(user), v_id(guild)), &row,
               &found);
    if (e || !found)
        return e;
    return entitlement_insert(im->tx,
                              &(struct entitlement){ .id = snowflake_new(),
                                                     .application_id = row_id(&row, 0),
                                                     .sku_id = sku,
                                                     .sku_type = row_int(&row, 1),
                                                     .user_id = user ? user : row_id(&row, 2),
                                                     .guild_id = { guild ? GIVEN : ABSENT, guild },
                                                     .test = in->test.value,
                                                     .ends_at = in->ends_at });
}

/* --- export to a world file ---------------------------------------------------------- */

static const char SKUS[] =
    "select id, name, type, flags from skus where application_id = $1 order by id";
static const char ENTITLEMENTS[] =
    "select e.sku_id, case when e.guild_id is null then u.username end, e.guild_id, e.test, "
    "e.ends_at from entitlements e join users u on u.id = e.user_id "
    "where e.application_id = $1 and e.deleted_at is null and e.consumed = 0 order by e.id";

static bool world_sku_from_row(struct world_file_exporter *ex, const struct rows *r, void *entry)
{
    struct world_sku *k = entry;

    (void)ex;
    *k = (struct world_sku){ .id = { GIVEN, row_id(r, 0) },
                             .name = row_text(r, 1),
                             .flags = export_nondefault_int(r, 3, SKU_AVAILABLE) };
    for (size_t i = 0; i < COUNT_OF(sku_words); i++)
        if (sku_words[i].type == row_int(r, 2) && sku_words[i].type != SKU_SUBSCRIPTION)
            k->type = opt_str_or_null(str_of(sku_words[i].word));
    return true;
}

static bool world_entitlement_from_row(struct world_file_exporter *ex, const struct rows *r,
                                       void *entry)
{
    struct world_entitlement *x = entry;

    *x = (struct world_entitlement){ .sku = format_id_string(ex->tx, row_id(r, 0)),
                                     .user = export_nondefault_text(r, 1, NULL),
                                     .test = export_nondefault_bool(r, 3, false) };
    if (!row_column_is_null(r, 2))
        x->guild = opt_str_or_null(format_id_string(ex->tx, row_id(r, 2)));
    if (!row_column_is_null(r, 4))
        x->ends_at = opt_int_present(row_int(r, 4));
    return true;
}

const struct world_file_fields entitlements_world = { (const struct world_file_field[]){
    { "application", "skus", &world_sku_list, .order = 20, .import = import_sku,
      .select = { &SKUS }, .read = world_sku_from_row },
    /* Entitlements are imported after the guilds, because guilds can own entitlements. */
    { "application", "entitlements", &world_entitlement_list, .order = 30, .later = true,
      .import = import_entitlement, .select = { &ENTITLEMENTS },
      .read = world_entitlement_from_row },
    { 0 },
} };
