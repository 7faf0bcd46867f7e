/* world.h - entry of a guild in world files (docs/world-files.md), for import and export. */
#ifndef PLATFORM_GUILDS_WORLD_H
#define PLATFORM_GUILDS_WORLD_H

#include "api/jobs/jobs.h"
#include "platform/guilds/guilds.h"
#include "platform/worlds/import_export.h"

struct world_guild {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, features, preferred_locale;
    struct opt_int afk_timeout, system_channel_flags, verification_level,
        default_message_notifications, explicit_content_filter, mfa_level;
    struct opt_bool premium_progress_bar_enabled;
    struct opt_str afk_channel, system_channel, rules_channel, public_updates_channel,
        safety_alerts_channel;
    struct opt_str vanity_code;
    struct opt_int vanity_uses;
    struct opt_str icon, banner, splash, discovery_splash; /* hashes of pictures of the archive */
};

#endif
