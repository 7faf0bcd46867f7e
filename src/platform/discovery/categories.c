/* categories.c - the categories of the public list, with Discord's ids, and search terms. */
#include "base/mem.h"
#include "base/utf8.h"
#include "platform/discovery/internal.h"

static const struct discovery_category categories[] = {
    { 0, STR("General"), true },
    { 1, STR("Gaming"), true },
    { 2, STR("Music"), true },
    { 3, STR("Entertainment"), true },
    { 4, STR("Creative Arts"), true },
    { 5, STR("Science & Tech"), true },
    { 6, STR("Education"), true },
    { 7, STR("Sports"), true },
    { 8, STR("Fashion & Beauty"), true },
    { 9, STR("Relationships & Identity"), true },
    { 10, STR("Travel & Food"), true },
    { 11, STR("Fitness & Health"), true },
    { 12, STR("Finance"), true },
    { 13, STR("Other"), true },
    { 14, STR("General Chatting"), false },
    { 15, STR("Esports"), false },
    { 16, STR("Anime & Manga"), false },
    { 17, STR("Movies & TV"), false },
    { 18, STR("Books"), false },
    { 19, STR("Art"), false },
    { 20, STR("Writing"), false },
    { 21, STR("Crafts, DIY, & Making"), false },
    { 22, STR("Programming"), false },
    { 23, STR("Podcasts"), false },
    { 24, STR("Tabletop Games"), false },
    { 25, STR("Memes"), false },
    { 26, STR("News & Current Events"), false },
    { 27, STR("Cryptocurrency"), false },
    { 28, STR("Investing"), false },
    { 29, STR("Studying & Teaching"), false },
    { 30, STR("LFG"), false },
    { 31, STR("Customer Support"), false },
    { 32, STR("Theorycraft"), false },
    { 33, STR("Events"), false },
    { 34, STR("Roleplay"), false },
    { 35, STR("Content Creator"), false },
    { 36, STR("Business"), false },
    { 37, STR("Local Group"), false },
    { 38, STR("Collaboration"), false },
    { 39, STR("Fandom"), false },
    { 40, STR("Wiki & Guide"), false },
};

const struct discovery_category *discovery_category_find(int64_t id)
{
    return id >= 0 && id < (int64_t)COUNT_OF(categories) ? &categories[id] : NULL;
}

/* --- GET /discovery/categories ------------------------------------------------------------ */

static const struct field query_fields[] = {
    { FIELD(struct discovery_categories_query, locale), .type = &type_text, .flags = OPTIONAL,
      .doc = "Ignored: the names are in English" },
    { FIELD(struct discovery_categories_query, primary_only), .type = &type_bool,
      .flags = OPTIONAL },
    { 0 },
};
const struct schema discovery_categories_query_schema = {
    .name = "DiscoveryCategoriesQuery",
    .size = sizeof(struct discovery_categories_query),
    .fields = query_fields,
    .doc = "Which categories.",
};

static const struct field category_fields[] = {
    { FIELD(struct discovery_category, id), .type = &type_int },
    { FIELD(struct discovery_category, name), .type = &type_text },
    { FIELD(struct discovery_category, is_primary), .type = &type_bool,
      .doc = "Whether it can be the primary category of a guild" },
    { 0 },
};
static const struct schema category_schema = {
    .name = "DiscoveryCategory",
    .size = sizeof(struct discovery_category),
    .fields = category_fields,
    .doc = "A category of the public list of guilds.",
};
static const struct type type_category = { .kind = KIND_OBJECT, .schema = &category_schema };
const struct type discovery_categories_reply = { .kind = KIND_ARRAY, .of = &type_category };

enum err get_discovery_categories(struct call *call)
{
    const struct discovery_categories_query *in = call->query;
    struct list out = { 0 };

    for (size_t i = 0; i < COUNT_OF(categories); i++)
        if (categories[i].is_primary || !in->primary_only)
            *(struct discovery_category *)list_append(call->arena, &out, sizeof *categories) =
                categories[i];
    return call_reply_with_object(call, &out);
}

/* --- GET /discovery/valid-term ------------------------------------------------------------ */

struct term_reply {
    bool valid;
};

static const struct field term_query_fields[] = {
    { FIELD(struct discovery_term_query, term), .type = &type_text },
    { 0 },
};
const struct schema discovery_term_query_schema = {
    .name = "DiscoveryTermQuery",
    .size = sizeof(struct discovery_term_query),
    .fields = term_query_fields,
    .doc = "A search term.",
};
static const struct field term_fields[] = {
    { FIELD(struct term_reply, valid), .type = &type_bool },
    { 0 },
};
static const struct schema term_schema = {
    .name = "DiscoveryTerm",
    .size = sizeof(struct term_reply),
    .fields = term_fields,
    .doc = "Whether a search term can be a keyword of a guild.",
};
const struct type discovery_term_reply = { .kind = KIND_OBJECT, .schema = &term_schema };

/* True if a keyword or search term has 1 to 30 visible characters. */
static bool discovery_term_is_valid(struct str term)
{
    return term.n > 0 && utf8_length(term) <= DISCOVERY_KEYWORD_MAX &&
           rule_visible_name.is_valid(term);
}

enum err get_discovery_valid_term(struct call *call)
{
    const struct discovery_term_query *in = call->query;

    return call_reply_with_object(call, &(struct term_reply){ discovery_term_is_valid(in->term) });
}
