/* webhooks.c - webhooks of guilds, in and out of world files. An import gives them new tokens. */
#include "platform/webhooks/webhooks.h"

#include <sodium.h>

#include "platform/channels/deletion.h"
#include "platform/worlds/guilds/guilds.h"

/* --- rows ----------------------------------------------------------------------------- */

static const struct field webhook_entry_fields[] = {
    MAYBE(struct world_webhook, id, type_id),
    MUST(struct world_webhook, name, type_world_name),
    MUST(struct world_webhook, channel, type_world_ref),
    MAYBE(struct world_webhook, by, type_world_ref),
    MAYBE(struct world_webhook, application, type_world_ref),
    { 0 },
};

WORLD_OBJECT(webhook, webhook_entry_fields, NULL);

const struct naming webhook_naming = {
    .word = "webhook",
    .by_name = SQL_TEXT("select min(id), count(*) from webhooks where name = $1 and guild_id = $2"),
    .by_id = SQL_TEXT("select min(id), count(*) from webhooks where id = $1 and guild_id = $2"),
    .any_id = SQL_TEXT("select min(id), count(*) from webhooks where id = $1"),
    .scoped = true,
};

/* --- in ------------------------------------------------------------------------------- */

static const char SAVE_WEBHOOK[] =
    "insert into webhooks (id, guild_id, channel_id, user_id, application_id, name, salt) "
    "values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do update set "
    "channel_id = excluded.channel_id, name = excluded.name, "
    "user_id = coalesce($4, webhooks.user_id), "
    "application_id = coalesce($5, webhooks.application_id)";

enum err import_webhook(struct importing *im, const void *entry, const struct place *at,
                        snowflake guild)
{
    const struct world_webhook *h = entry;
    struct place channel_at = place_key(at, STR("channel")), by_at = place_key(at, STR("by"));
    struct place application_at = place_key(at, STR("application"));
    unsigned char salt[WEBHOOK_SALT];
    snowflake id, channel = 0, by = 0, application = 0;
    enum err e = world_place_of(im, &webhook_naming, guild, h->id, h->name, at, &id);

    if (!e)
        e = refer(im, &channel_naming, guild, h->channel, &channel_at, &channel);
    if (!e)
        e = refer_maybe(im, &user_naming, 0, &h->by, &by_at, &by);
    if (!e)
        e = refer_maybe(im, &application_naming, 0, &h->application, &application_at, &application);
    if (e || !id || !channel)
        return e;
    randombytes_buf(salt, sizeof salt);
    return tx_exec(im->tx, SAVE_WEBHOOK,
                   BIND(v_id(id), v_id(guild), v_id(channel), by ? v_id(by) : v_null(),
                        application ? v_id(application) : v_null(), v_text(h->name),
                        v_bytes(str_slice((const char *)salt, sizeof salt))),
                   NULL);
}

/* --- out ------------------------------------------------------------------------------ */

/* Those that follow a channel belong to that following, which stays behind. */
static const char WEBHOOKS[] =
    "select h.id, coalesce(h.name, 'Webhook'), h.channel_id, u.username, h.application_id from webhooks h "
    "left join users u on u.id = h.user_id where h.guild_id = $1 and h.source_channel_id is null "
    "and not" CHANNEL_BEING_DELETED("h.channel_id") " order by h.id";

enum err export_webhooks(struct exporting *ex, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(ex->tx, WEBHOOKS, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_webhook *h = shown_item(ex->tx, ret, sizeof *h);

        *h = (struct world_webhook){
            .id = { GIVEN, row_id(&r, 0) },
            .name = row_text(&r, 1),
            .channel = shown_reference(ex->tx, &ex->channels, row_id(&r, 2)).value,
            .by = shown_text(&r, 3, NULL),
            .application = shown_reference(ex->tx, &ex->applications, row_id(&r, 4)),
        };
    }
    return rows_end(&r);
}
