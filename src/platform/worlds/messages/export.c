/* export.c - direct channels, groups, and what was said anywhere. */
#include "model/channel.h"
#include "platform/worlds/messages/messages.h"

/* --- messages ------------------------------------------------------------------------- */

/* What the platform itself said, and webhooks that are gone or follow a channel, has no author that
 * an import could find; nor has an app's answer to a command, which has no name of its own. */
static const char MESSAGES[] =
    "select m.id, u.username, m.content, m.edited_at, m.embeds, m.pinned from messages m "
    "left join users u on u.id = m.author_id and m.webhook_id is null "
    "left join webhooks h on h.id = m.webhook_id and h.source_channel_id is null "
    "where m.channel_id = $1 and m.type in (0, 19) and (u.id is not null or h.id is not null) "
    "and m.ephemeral_for is null order by m.id";

enum err export_messages(struct tx *tx, snowflake channel, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, MESSAGES, BIND(v_id(channel)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_message *m = shown_item(tx, ret, sizeof *m);

        *m = (struct world_message){
            .id = { GIVEN, row_id(&r, 0) },
            .author = shown_text(&r, 1, NULL),
            .content = row_text(&r, 2),
            .edited_at = shown_int(&r, 3, -1),
            .embeds = shown_text(&r, 4, "[]"),
            .pinned = shown_bool(&r, 5, false),
        };
    }
    e = rows_end(&r);
    if (!e)
        e = export_speakers(tx, channel, ret);
    if (!e)
        e = export_forwards(tx, channel, ret);
    if (!e)
        e = export_message_stickers(tx, channel, ret);
    if (!e)
        e = export_polls(tx, channel, ret);
    return e ? e : export_reactions(tx, channel, ret);
}

/* --- private channels ----------------------------------------------------------------- */

static const char PEOPLE[] = "select u.username from recipients r join users u on u.id = r.user_id "
                             "where r.channel_id = $1 order by r.user_id";
static const char PRIVATE_CHANNELS[] =
    "select c.id, c.type, c.name, u.username from channels c left join users u "
    "on u.id = c.owner_id where c.type in (1, 3) order by c.id";

static enum err export_people(struct tx *tx, snowflake channel, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, PEOPLE, BIND(v_id(channel)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        *(struct str *)shown_item(tx, ret, sizeof(struct str)) = row_text(&r, 0);
    return rows_end(&r);
}

static enum err export_private_fill(struct tx *tx, struct opt_list *channels)
{
    struct world_private *all = channels->value.items;
    enum err e = OK;

    for (size_t i = 0; i < channels->value.count && !e; i++) {
        e = export_people(tx, all[i].id.value, &all[i].people);
        if (!e)
            e = export_messages(tx, all[i].id.value, &all[i].messages);
    }
    return e;
}

enum err export_private(struct tx *tx, struct opt_list *ret_directs, struct opt_list *ret_groups)
{
    struct rows r;
    enum err e = tx_query(tx, PRIVATE_CHANNELS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        bool direct = row_int(&r, 1) == CHANNEL_DM;
        struct world_private *p = shown_item(tx, direct ? ret_directs : ret_groups, sizeof *p);

        *p = (struct world_private){
            .id = { GIVEN, row_id(&r, 0) },
            .name = shown_text(&r, 2, NULL),
            .owner = shown_text(&r, 3, NULL),
        };
    }
    e = rows_end(&r);
    if (!e)
        e = export_private_fill(tx, ret_directs);
    return e ? e : export_private_fill(tx, ret_groups);
}
