/* world.h - import and export of references to emoji in other entries of world files. */
#ifndef PLATFORM_EMOJIS_WORLD_H
#define PLATFORM_EMOJIS_WORLD_H

#include "platform/worlds/import_export.h"

/* A reference to a Unicode emoji, or to an emoji of the guild by name or id. */
struct world_emoji_ref {
    struct opt_id id; /* id and name are both null if there is no emoji */
    struct opt_str name;
    bool animated;
};
enum err world_file_resolve_emoji_ref(struct world_file_importer *im, snowflake guild,
                                      const struct opt_str *to, const struct json_path *at,
                                      struct world_emoji_ref *ret);
struct opt_str world_file_format_emoji_reference(struct tx *tx, struct opt_id id,
                                                 struct opt_str name);

#endif
