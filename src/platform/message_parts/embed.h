/* embed.h - embeds of a message, as request bodies contain them. */
#ifndef PLATFORM_MESSAGE_PARTS_EMBED_H
#define PLATFORM_MESSAGE_PARTS_EMBED_H

#include "json/schema.h"
#include "model/fields/types.h"

enum {
    EMBEDS_MOST = 10,
    EMBEDS_MOST_CHARACTERS = 6000, /* maximum number of characters in all embeds of one message */
    EMBED_MOST_TITLE = 256,
    EMBED_MOST_DESCRIPTION = 4096,
};

struct embed_field {
    struct str name, value;
    bool is_inline;
};
struct embed_footer {
    struct str text;
    struct opt_str icon_url;
};
struct embed_author {
    struct str name;
    struct opt_str url, icon_url;
};
struct embed_media {
    struct str url;
};
struct embed {
    struct str type; /* always "rich" */
    struct opt_str title, description, url;
    struct opt_int timestamp, color;
    struct opt_object footer, image, thumbnail, author;
    struct opt_list fields;
};

extern const struct type type_embed_link; /* type of a URL with the scheme http or https */
extern const struct type
    type_media_url; /* type of an http or https URL, or of attachment://filename */
extern const struct type type_embed_in, type_embeds_in;

/* Checks the limits on the number and the total length of a message's embeds. */
void message_embeds_validate(struct form *form, const struct json_path *here,
                             const struct opt_list *embeds);
struct str embeds_encode_json(struct arena *arena, const struct list *embeds);

size_t embeds_count_characters(const struct list *embeds);

#endif
