/* world.c - import and export of webhooks in world files (JSON data sets). An import issues new
 * tokens. */
#include "platform/webhooks/internal.h"

#include <sodium.h>

#include "platform/channels/deletion.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_webhook {
    struct opt_id id;
    struct str name, channel;
    struct opt_str by, application,
        avatar; /* avatar: hash of a picture in the archive of a copied guild */
};

static const struct field webhook_entry_fields[] = {
    MAYBE(struct world_webhook, id, type_id),
    MUST(struct world_webhook, name, type_world_name),
    MUST(struct world_webhook, channel, type_world_ref),
    MAYBE(struct world_webhook, by, type_world_ref),
    MAYBE(struct world_webhook, application, type_world_ref),
    MAYBE(struct world_webhook, avatar, type_world_name),
    { 0 },
};

WORLD_OBJECT(webhook, webhook_entry_fields, NULL);

/* --- import --------------------------------------------------------------------------- */

static enum err import_webhook(struct world_file_importer *im, const void *entry,
                               const struct json_path *at, snowflake guild)
{
    const struct world_webhook *h = entry;
    struct json_path channel_at = json_path_key(at, STR("channel"));
    unsigned char salt[WEBHOOK_SALT];
    snowflake id, channel = 0, by = 0, application = 0;
    enum err e = world_file_resolve_entry_id(im, &webhook_naming, guild, h->id, h->name, at, &id);

    if (!e)
        e = world_file_resolve_reference(im, &channel_naming, guild, h->channel, &channel_at,
                                         &channel);
    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &h->by, at, "by", &by);
    if (!e)
        e = world_file_resolve_optional_reference(im, &application_naming, 0, &h->application, at,
                                                  "application", &application);
    if (e || !id || !channel)
        return e;
    struct webhook made = { 0 };
    e = webhook_find(im->tx, id, &made);
    if (e && e != ERR_UNKNOWN_WEBHOOK)
        return e;
    if (!made.id) {
        randombytes_buf(salt, sizeof salt);
        made = (struct webhook){ .id = id,
                                 .guild_id = guild,
                                 .salt = str_slice((const char *)salt, sizeof salt) };
    }
    made.channel_id = channel;
    made.name = opt_str_or_null(h->name);
    if (by)
        made.user_id = by;
    if (application)
        made.application_id = opt_id_or_null(application);
    e = world_file_import_archived_picture(im, "avatars", id, &h->avatar, &made.avatar);
    return e ? e : webhook_insert(im->tx, &made);
}

/* --- export --------------------------------------------------------------------------- */

/* Selects the webhooks to export. Follower webhooks are omitted, because world files cannot
 * describe which channel follows which. */
static const char WEBHOOKS[] =
    "select h.id, coalesce(h.name, 'Webhook'), h.channel_id, u.username, h.application_id from webhooks h "
    "left join users u on u.id = h.user_id where h.guild_id = $1 and h.source_channel_id is null "
    "and not" CHANNEL_BEING_DELETED("h.channel_id") " order by h.id";

static bool webhook_entry_from_row(struct world_file_exporter *ex, const struct rows *r,
                                   void *entry)
{
    struct world_webhook *h = entry;

    *h = (struct world_webhook){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .channel = world_file_export_reference(ex->tx, &ex->channels, row_id(r, 2)).value,
        .by = export_nondefault_text(r, 3, NULL),
        .application = world_file_export_reference(ex->tx, &ex->applications, row_id(r, 4)),
    };
    return true;
}

const struct world_file_fields webhooks_world = { (const struct world_file_field[]){
    { "guild", "webhooks", &world_webhook_list, .order = 60, .import = import_webhook,
      .select = { &WEBHOOKS }, .read = webhook_entry_from_row },
    { 0 },
} };
