/* query.c - query parameters of message search. */
#include "platform/search/internal.h"

#include "model/fields/types.h"

/* Two values of `has` or `author_type`: the word, and the word with a minus, which excludes such
 * messages. */
#define KIND_OF(word, doc_)                 \
    { 0, word, word, doc_ },                \
    {                                       \
        0, "-" word, "-" word, "Not: " doc_ \
    }

static const struct enum_choice author_kinds[] = {
    KIND_OF("user", "People"),
    KIND_OF("bot", "Bots"),
    KIND_OF("webhook", "Webhooks"),
    { 0 },
};
static const struct enum_choice parts[] = {
    KIND_OF("link", "A link"),
    KIND_OF("embed", "An embed"),
    KIND_OF("file", "A file"),
    KIND_OF("image", "A picture"),
    KIND_OF("video", "A video"),
    KIND_OF("sound", "A sound"),
    KIND_OF("sticker", "A sticker"),
    KIND_OF("poll", "A poll"),
    KIND_OF("snapshot", "A forwarded message"),
    { 0 },
};
static const struct enum_choice embed_kinds[] = {
    { 0, "image", "image", "A picture" },
    { 0, "video", "video", "A video" },
    { 0, "gif", "gif", "A GIF" },
    { 0, "sound", "sound", "A sound" },
    { 0, "article", "article", "Any other" },
    { 0 },
};
static const struct enum_choice sort_keys[] = {
    { 0, "timestamp", "timestamp", "By time" },
    { 0, "relevance", "relevance", "Messages with the largest share of matching words first" },
    { 0 },
};
static const struct enum_choice sort_orders[] = {
    { 0, "desc", "desc", "The newest first" },
    { 0, "asc", "asc", "The oldest first" },
    { 0 },
};

static const struct type type_page = { .kind = KIND_INT, .min = 1, .max = 25 };
static const struct type type_offset = { .kind = KIND_INT, .min = 0, .max = 9975 };
static const struct type type_slop = { .kind = KIND_INT, .min = 0, .max = 100 };
static const struct type type_content = { .kind = KIND_STRING, .min = 0, .max = 1024 };
static const struct type type_contents = { .kind = KIND_ARRAY, .max = 100, .of = &type_content };
static const struct type type_positions = { .kind = KIND_ARRAY, .max = 500, .of = &type_id };
static const struct type type_people = { .kind = KIND_ARRAY, .max = 100, .of = &type_id };
static const struct type type_author_kind = { .kind = KIND_STRING, .choices = author_kinds };
static const struct type type_author_kinds = { .kind = KIND_ARRAY, .of = &type_author_kind };
static const struct type type_part = { .kind = KIND_STRING, .choices = parts };
static const struct type type_parts = { .kind = KIND_ARRAY, .of = &type_part };
static const struct type type_embed_kind = { .kind = KIND_STRING, .choices = embed_kinds };
static const struct type type_embed_kinds = { .kind = KIND_ARRAY, .of = &type_embed_kind };
static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 256 };
static const struct type type_names = { .kind = KIND_ARRAY, .max = 100, .of = &type_name };
static const struct type type_filenames = { .kind = KIND_ARRAY, .max = 100, .of = &type_content };
static const struct type type_sort_key = { .kind = KIND_STRING, .choices = sort_keys };
static const struct type type_sort_order = { .kind = KIND_STRING, .choices = sort_orders };

#define ASKED(member_, type_, ...)                                                          \
    {                                                                                       \
        FIELD(struct search_query, member_), .type = &type_, .flags = OPTIONAL, __VA_ARGS__ \
    }

/* clang-format off */
#define SEARCH_FIELDS                                                                              \
    ASKED(limit, type_page, .fallback = 25),                                                       \
    ASKED(offset, type_offset),                                                                    \
    ASKED(min_id, type_id, .doc = "Only newer messages"),                                          \
    ASKED(max_id, type_id, .doc = "Only older messages"),                                          \
    ASKED(content, type_content, .doc = "Words; the last one may be a prefix of at least 4 "       \
          "characters. SQLite ignores longer words if 10000 messages have the prefix as a word"),  \
    ASKED(slop, type_slop, .fallback = 2, .doc = "How many other words may be between two"),       \
    ASKED(contents, type_contents, .doc = "Alternatives, each as `slop|words`"),                   \
    ASKED(author_id, type_people),                                                                 \
    ASKED(author_type, type_author_kinds),                                                         \
    ASKED(mentions, type_people),                                                                  \
    ASKED(mentions_role_id, type_people),                                                          \
    ASKED(mention_everyone, type_bool),                                                            \
    ASKED(replied_to_user_id, type_people),                                                        \
    ASKED(replied_to_message_id, type_people),                                                     \
    ASKED(pinned, type_bool),                                                                      \
    ASKED(has, type_parts, .doc = "One of these; none of those with a minus"),                     \
    ASKED(embed_type, type_embed_kinds),                                                           \
    ASKED(embed_provider, type_names),                                                             \
    ASKED(link_hostname, type_names),                                                              \
    ASKED(attachment_filename, type_filenames, .doc = "File name"),                                \
    ASKED(attachment_extension, type_names),                                                       \
    ASKED(sort_by, type_sort_key),                                                                 \
    ASKED(sort_order, type_sort_order, .doc = "By time only"),                                     \
    ASKED(include_nsfw, type_bool)
/* clang-format on */

static const struct field guild_fields[] = {
    SEARCH_FIELDS,
    ASKED(channel_id, type_positions),
    { 0 },
};
static const struct field channel_fields[] = { SEARCH_FIELDS, { 0 } };

const struct schema guild_search_schema = {
    .name = "GuildSearchQuery",
    .size = sizeof(struct search_query),
    .fields = guild_fields,
    .doc = "Which messages of a guild. A message must match one value of each parameter.",
};
const struct schema channel_search_schema = {
    .name = "ChannelSearchQuery",
    .size = sizeof(struct search_query),
    .fields = channel_fields,
    .doc = "Which messages of a private channel.",
};
