/* listing.c - GET /discoverable-guilds: pages of the public list, and search in it. A request
 * examines at most LISTED_GUILDS_MAX guilds, the largest ones, by a partial index. Filters run on
 * these rows in the background, so that no event loop waits, and the cost does not depend on the
 * number of guilds. A smaller guild is not in the list, but guild_ids finds it, and users can join
 * it. */
#include "gateway/gateway.h"
#include "model/emoji.h"
#include "model/fields/rows.h"
#include "model/sticker.h"
#include "model/text/search_words.h"
#include "platform/discovery/internal.h"

enum {
    LISTED_GUILDS_MAX = 5000,
    PAGE_MAX = 48,
    GUILD_IDS_MAX = 48,
    CATEGORIES_MAX = 50, /* each is compared with each guild */
    OFFSET_MAX = 2999,
};

struct discovery_page {
    struct list guilds; /* struct discoverable_guild */
    int64_t total, limit, offset;
};

/* --- schemas ---------------------------------------------------------------------------- */

static const struct field guild_fields[] = {
    { FIELD(struct discoverable_guild, id), .type = &type_id },
    { FIELD(struct discoverable_guild, name), .type = &type_text },
    { FIELD(struct discoverable_guild, icon), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct discoverable_guild, description), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct discoverable_guild, banner), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct discoverable_guild, splash), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct discoverable_guild, discovery_splash), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct discoverable_guild, features), .type = &type_raw, .doc = "Names of features" },
    { FIELD(struct discoverable_guild, vanity_url_code), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct discoverable_guild, preferred_locale), .type = &type_text },
    { FIELD(struct discoverable_guild, premium_subscription_count), .type = &type_count },
    { FIELD(struct discoverable_guild, approximate_member_count), .type = &type_count },
    { FIELD(struct discoverable_guild, approximate_presence_count), .type = &type_count },
    { FIELD(struct discoverable_guild, auto_removed), .type = &type_bool },
    { FIELD(struct discoverable_guild, primary_category_id), .type = &type_int },
    { FIELD(struct discoverable_guild, keywords), .type = &discovery_keywords_type,
      .flags = NULLABLE },
    { FIELD(struct discoverable_guild, is_published), .type = &type_bool },
    { FIELD(struct discoverable_guild, emojis), .type = &type_emojis, .flags = OPTIONAL,
      .doc = "At most 30; only in the answer about an emoji" },
    { FIELD(struct discoverable_guild, emoji_count), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct discoverable_guild, stickers), .type = &type_stickers, .flags = OPTIONAL,
      .doc = "At most 30; only in the answer about a sticker" },
    { FIELD(struct discoverable_guild, sticker_count), .type = &type_count, .flags = OPTIONAL },
    { 0 },
};
static const struct schema guild_schema_of_list = {
    .name = "DiscoverableGuild",
    .size = sizeof(struct discoverable_guild),
    .fields = guild_fields,
    .doc = "A guild of the public list.",
};
const struct type type_discoverable_guild = { .kind = KIND_OBJECT,
                                              .schema = &guild_schema_of_list };
static const struct type type_discoverable_guilds = { .kind = KIND_ARRAY,
                                                      .of = &type_discoverable_guild };

static const struct field page_fields[] = {
    { FIELD(struct discovery_page, guilds), .type = &type_discoverable_guilds },
    { FIELD(struct discovery_page, total), .type = &type_count, .doc = "Guilds that match" },
    { FIELD(struct discovery_page, limit), .type = &type_count },
    { FIELD(struct discovery_page, offset), .type = &type_count },
    { 0 },
};
static const struct schema page_schema = {
    .name = "DiscoverableGuilds",
    .size = sizeof(struct discovery_page),
    .fields = page_fields,
    .doc = "A page of the public list, largest guilds first.",
};
const struct type discovery_page_reply = { .kind = KIND_OBJECT, .schema = &page_schema };

static const struct type type_page = { .kind = KIND_INT, .min = 1, .max = PAGE_MAX };
static const struct type type_offset = { .kind = KIND_INT, .min = 0, .max = OFFSET_MAX };
static const struct type type_guild_ids = { .kind = KIND_ARRAY,
                                            .max = GUILD_IDS_MAX,
                                            .of = &type_id };
static const struct type type_categories = { .kind = KIND_ARRAY,
                                             .max = CATEGORIES_MAX,
                                             .of = &type_int };
static const struct type type_search_text = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 100
};

static const struct field list_query_fields[] = {
    { FIELD(struct discoverable_guilds_query, guild_ids), .type = &type_guild_ids,
      .flags = OPTIONAL, .doc = "These guilds, without pages" },
    { FIELD(struct discoverable_guilds_query, categories), .type = &type_categories,
      .flags = OPTIONAL, .doc = "Guilds of one of these categories" },
    { FIELD(struct discoverable_guilds_query, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 30 },
    { FIELD(struct discoverable_guilds_query, offset), .type = &type_offset, .flags = OPTIONAL },
    { 0 },
};
const struct schema discovery_list_query_schema = {
    .name = "DiscoverableGuildsQuery",
    .size = sizeof(struct discoverable_guilds_query),
    .fields = list_query_fields,
    .doc = "Which guilds of the public list.",
};
static const struct field search_query_fields[] = {
    { FIELD(struct discoverable_guilds_query, query), .type = &type_search_text,
      .doc = "Text of the name, the description or a keyword" },
    { FIELD(struct discoverable_guilds_query, category_id), .type = &type_int, .flags = OPTIONAL },
    { FIELD(struct discoverable_guilds_query, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 24 },
    { FIELD(struct discoverable_guilds_query, offset), .type = &type_offset, .flags = OPTIONAL },
    { 0 },
};
const struct schema discovery_search_query_schema = {
    .name = "DiscoverableGuildsSearch",
    .size = sizeof(struct discoverable_guilds_query),
    .fields = search_query_fields,
    .doc = "A search in the public list.",
};

/* --- rows ------------------------------------------------------------------------------- */

/* The condition must be word for word that of the partial index guilds_discoverable; otherwise the
 * index is not used. */
#define DISCOVERABLE_GUILDS                                                                  \
    "select g.id, g.name, g.icon, g.description, g.banner, g.splash, g.discovery_splash, "   \
    "g.features, g.vanity_code, g.preferred_locale, g.member_count, d.primary_category_id, " \
    "d.keywords, d.is_published, d.category_ids, "                                           \
    "coalesce(d.emoji_discoverability_enabled, 1) "                                          \
    "from guilds g left join guild_discovery d on d.guild_id = g.id where g.features like '%\"DISCOVERABLE\"%' and g.removed = 0"

static const char LARGEST_GUILDS[] =
    DISCOVERABLE_GUILDS " order by g.member_count desc, g.id desc limit $1";
static const char ONE_GUILD[] = DISCOVERABLE_GUILDS " and g.id = $1";

static void discoverable_guild_from_row(const struct rows *r, struct discoverable_guild *g)
{
    struct arena *arena = tx_arena(r->tx);

    *g = (struct discoverable_guild){
        .id = row_id(r, 0),
        .name = row_text(r, 1),
        .icon = row_optional_text(r, 2),
        .description = row_optional_text(r, 3),
        .banner = row_optional_text(r, 4),
        .splash = row_optional_text(r, 5),
        .discovery_splash = row_optional_text(r, 6),
        .features = row_text(r, 7),
        .vanity_url_code = row_optional_text(r, 8),
        .preferred_locale = row_text(r, 9),
        .approximate_member_count = row_int(r, 10),
        .primary_category_id = row_int(r, 11),
        .keywords.given = GIVEN_NULL,
        .is_published = row_bool(r, 13),
        .category_ids =
            json_column_decode_list(arena, &discovery_category_ids_type, row_text(r, 14)),
        .shows_expressions = row_bool(r, 15),
    };
    if (!row_column_is_null(r, 12))
        g->keywords =
            (struct opt_list){ GIVEN, json_column_decode_list(arena, &discovery_keywords_type,
                                                              row_text(r, 12)) };
}

/* --- filters ---------------------------------------------------------------------------- */

static bool guild_has_category(const struct discoverable_guild *g, int64_t category)
{
    const int64_t *ids = g->category_ids.items;

    for (size_t i = 0; i < g->category_ids.count; i++)
        if (ids[i] == category)
            return true;
    return g->primary_category_id == category;
}

static bool guild_has_one_category(const struct discoverable_guild *g, const struct list *wanted)
{
    const int64_t *ids = wanted->items;

    for (size_t i = 0; i < wanted->count; i++)
        if (guild_has_category(g, ids[i]))
            return true;
    return !wanted->count;
}

static bool text_contains(struct arena *arena, struct str text, struct str normalized)
{
    struct str in = normalize_search_text(arena, text);

    return in.n && memmem(in.p, in.n, normalized.p, normalized.n);
}

static bool guild_contains_text(struct arena *arena, const struct discoverable_guild *g,
                                struct str normalized)
{
    const struct str *keyword = g->keywords.value.items;

    for (size_t i = 0; i < g->keywords.value.count; i++)
        if (text_contains(arena, keyword[i], normalized))
            return true;
    return text_contains(arena, g->name, normalized) ||
           (g->description.given == GIVEN &&
            text_contains(arena, g->description.value, normalized));
}

static bool guild_matches_list_query(struct arena *arena, const struct discoverable_guild *g,
                                     const struct discoverable_guilds_query *in,
                                     struct str normalized)
{
    if (in->categories.given == GIVEN && !guild_has_one_category(g, &in->categories.value))
        return false;
    if (in->category_id.given == GIVEN && !guild_has_category(g, in->category_id.value))
        return false;
    return in->query.given != GIVEN || guild_contains_text(arena, g, normalized);
}

/* --- handler ---------------------------------------------------------------------------- */

static int64_t count_online_members(const struct call *call, snowflake guild_id)
{
    return gateway_online_member_count(api_get_options(call->api)->gateway, guild_id);
}

enum err discoverable_guild_find(struct call *call, snowflake id, struct discoverable_guild *ret,
                                 bool *found)
{
    struct rows r;
    enum err e = tx_one(call->tx, ONE_GUILD, BIND(v_id(id)), &r, found);

    if (e || !*found)
        return e;
    discoverable_guild_from_row(&r, ret);
    ret->approximate_presence_count = count_online_members(call, id);
    return OK;
}

static enum err read_named_guilds(struct call *call, const struct list *ids, struct list *ret)
{
    const snowflake *id = ids->items;

    for (size_t i = 0; i < ids->count; i++) {
        struct rows r;
        bool found;
        enum err e = tx_one(call->tx, ONE_GUILD, BIND(v_id(id[i])), &r, &found);

        if (e)
            return e;
        if (found)
            discoverable_guild_from_row(
                &r, list_append(call->arena, ret, sizeof(struct discoverable_guild)));
    }
    return OK;
}

static enum err read_matching_guilds(struct call *call, const struct discoverable_guilds_query *in,
                                     struct discovery_page *page)
{
    struct str text =
        in->query.given == GIVEN ? normalize_search_text(call->arena, in->query.value) : STR("");
    struct discoverable_guild g;
    struct rows r;
    enum err e = tx_query(call->tx, SQL(LARGEST_GUILDS), BIND(v_int(LISTED_GUILDS_MAX)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        discoverable_guild_from_row(&r, &g);
        if (!guild_matches_list_query(call->arena, &g, in, text))
            continue;
        if (page->total >= in->offset && page->total < in->offset + in->limit)
            *(struct discoverable_guild *)list_append(call->arena, &page->guilds, sizeof g) = g;
        page->total++;
    }
    return rows_end(&r);
}

enum err get_discoverable_guilds(struct call *call)
{
    const struct discoverable_guilds_query *in = call->query;
    struct discovery_page page = { .limit = in->limit, .offset = in->offset };
    enum err e;

    if (in->guild_ids.given == GIVEN) {
        e = read_named_guilds(call, &in->guild_ids.value, &page.guilds);
        page.total = (int64_t)page.guilds.count;
        page.offset = 0;
    } else {
        e = read_matching_guilds(call, in, &page);
    }
    if (e)
        return e;
    struct discoverable_guild *g = page.guilds.items;
    for (size_t i = 0; i < page.guilds.count; i++)
        g[i].approximate_presence_count = count_online_members(call, g[i].id);
    return call_reply_with_object(call, &page);
}
