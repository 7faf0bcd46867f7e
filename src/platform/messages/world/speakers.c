/* speakers.c - message authors in world files: users, or webhooks with name and avatar. */
#include "model/user.h"
#include "platform/accounts/accounts.h"
#include "platform/worlds/file.h"
#include "platform/messages/world/world.h"

/* --- import ----------------------------------------------------------------------------- */

static const char HOME_OF_CHANNEL[] = "select guild_id from channels where id = $1";
static const char WEBHOOK_NAME[] = "select name from webhooks where id = $1";

static enum err dress_webhook(struct importing *im, const struct world_message *m,
                              struct world_speaker *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, WEBHOOK_NAME, BIND(v_id(ret->webhook)), &row, &found);

    if (e)
        return e;
    ret->name = m->username.given == GIVEN ? m->username : given_str(row_text(&row, 0));
    if (m->avatar_url.given == GIVEN)
        e = picture_note_address(im->tx, ret->webhook, m->avatar_url.value, &ret->avatar);
    return e;
}

enum err import_speaker(struct importing *im, const struct world_message *m, snowflake channel,
                        const struct place *up, struct world_speaker *ret)
{
    struct place author_at = place_key(up, STR("author")),
                 webhook_at = place_key(up, STR("webhook"));
    struct rows row;
    bool found;

    if (m->author.given == GIVEN)
        return refer(im, &user_naming, 0, m->author.value, &author_at, &ret->author);
    enum err e = tx_one(im->tx, HOME_OF_CHANNEL, BIND(v_id(channel)), &row, &found);
    if (!e)
        e = refer(im, &webhook_naming, row_id(&row, 0), m->webhook.value, &webhook_at,
                  &ret->webhook);
    ret->author = ret->webhook;
    return e || !ret->webhook ? e : dress_webhook(im, m, ret);
}

/* --- export ----------------------------------------------------------------------------- */

static const char SPEAKERS[] =
    "select m.id, h.id, m.webhook_name, h.name, p.url from messages m join webhooks h on "
    "h.id = m.webhook_id left join picture_addresses p on p.owner_id = h.id and "
    "p.hash = m.webhook_avatar where m.channel_id = $1 and m.webhook_id is not null order by m.id";

enum err export_speakers(struct exporting *ex, struct world_entries to)
{
    struct rows r;
    enum err e = tx_query(ex->tx, SPEAKERS, BIND(v_id(ex->channel)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_message *m = world_entry_member(&to, row_id(&r, 0));

        if (!m)
            continue; /* messages that are not exported */
        m->webhook = given_str(shown_id(ex->tx, row_id(&r, 1)));
        if (!str_eq(row_text(&r, 2), row_text(&r, 3)))
            m->username = shown_text(&r, 2, NULL);
        m->avatar_url = shown_text(&r, 4, NULL);
    }
    return rows_end(&r);
}
