/* internal.h - declarations shared by the files of discovery/. */
#ifndef PLATFORM_DISCOVERY_INTERNAL_H
#define PLATFORM_DISCOVERY_INTERNAL_H

#include "platform/discovery/discovery.h"
#include "platform/guilds/guilds.h"

enum { DISCOVERY_MAX_SUBCATEGORIES = 5, DISCOVERY_MAX_KEYWORDS = 10, DISCOVERY_KEYWORD_MAX = 30 };

/* --- categories.c ----------------------------------------------------------------------- */

struct discovery_category {
    int64_t id;
    struct str name;
    bool is_primary;
};
struct discovery_categories_query {
    struct opt_str locale;
    bool primary_only;
};
struct discovery_term_query {
    struct str term;
};
extern const struct schema discovery_categories_query_schema, discovery_term_query_schema;
extern const struct type discovery_categories_reply, discovery_term_reply;

/* Finds a category by its id. Returns NULL if it does not exist. */
const struct discovery_category *discovery_category_find(int64_t id);
enum err get_discovery_categories(struct call *call);
enum err get_discovery_valid_term(struct call *call);

/* --- metadata.c ------------------------------------------------------------------------- */

extern const struct type discovery_metadata_reply, discovery_metadata_body, discovery_keywords_type,
    discovery_category_ids_type;
enum err get_discovery_metadata(struct call *call);
enum err modify_discovery_metadata(struct call *call);
enum err add_discovery_category(struct call *call);
enum err remove_discovery_category(struct call *call);

/* --- listing.c -------------------------------------------------------------------------- */

struct discoverable_guild {
    snowflake id;
    struct str name, preferred_locale;
    struct opt_str icon, description, banner, splash, discovery_splash, vanity_url_code;
    struct str features; /* JSON */
    int64_t premium_subscription_count, approximate_member_count, approximate_presence_count,
        primary_category_id;
    struct opt_list keywords; /* struct str */
    bool auto_removed, is_published;
    /* Only in the answer about one emoji or sticker. */
    struct opt_list emojis, stickers;
    struct opt_int emoji_count, sticker_count;

    /* The following struct fields are not in the JSON. */
    struct list category_ids; /* int64_t */
    bool shows_expressions;   /* whether the guild lets everybody see where its emoji are from */
};
extern const struct type type_discoverable_guild;
/* Reads a guild of the public list. Sets *found to false if the guild is not in the list. */
enum err discoverable_guild_find(struct call *call, snowflake id, struct discoverable_guild *ret,
                                 bool *found);

/* Parameters of GET /discoverable-guilds and /discoverable-guilds/search. */
struct discoverable_guilds_query {
    struct opt_list guild_ids;  /* snowflakes */
    struct opt_list categories; /* int64_t */
    struct opt_int category_id;
    struct opt_str query;
    int64_t limit, offset;
};
extern const struct schema discovery_list_query_schema, discovery_search_query_schema;
extern const struct type discovery_page_reply;
enum err get_discoverable_guilds(struct call *call);

/* --- expression_sources.c --------------------------------------------------------------- */

extern const struct type emoji_source_reply;
enum err get_emoji_guild(struct call *call);
enum err get_emoji_source(struct call *call);
enum err get_sticker_guild(struct call *call);

#endif
