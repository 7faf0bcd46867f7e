/* world.h - entry of a channel in world files (docs/world-files.md), for import and export. */
#ifndef PLATFORM_CHANNELS_WORLD_H
#define PLATFORM_CHANNELS_WORLD_H

#include "platform/worlds/import_export.h"

struct world_overwrite {
    struct opt_str role, member, allow, deny;
};
struct world_channel {
    struct opt_id id;
    struct str name, type;
    struct opt_str parent, topic, rtc_region, owner;
    struct opt_int position, rate_limit_per_user, bitrate, user_limit, video_quality_mode, flags;
    struct opt_int default_auto_archive_duration, auto_archive_duration, archived_at;
    struct opt_bool nsfw, archived, locked;
    struct opt_list overwrites; /* struct world_overwrite */

    /* Fields of forums, media channels and threads; threads.c imports them. */
    struct opt_list tags; /* struct world_tag */
    struct opt_str default_reaction, default_tag_setting;
    struct opt_int default_sort_order, default_forum_layout, default_thread_rate_limit_per_user;
    struct opt_list applied_tags, people; /* struct str */
    struct opt_bool invitable;
};
struct world_tag {
    struct opt_id id;
    struct str name;
    struct opt_bool moderated;
    struct opt_str emoji;
};
extern const struct type world_tag_list;

/* threads.c: import the fields of a forum or thread. Call them when all channels are imported. */
enum err import_forum_fields(struct world_file_importer *im, const struct world_channel *c,
                             snowflake id, snowflake guild, const struct json_path *at);
enum err import_thread_fields(struct world_file_importer *im, const struct world_channel *c,
                              snowflake id, snowflake parent, const struct json_path *at);
enum err export_thread_fields(struct world_file_exporter *ex, struct opt_list *channels);

#endif
