/* authors.c - message authors in world files (JSON data sets): users, or webhooks with name and
 * avatar. */
#include "model/user.h"
#include "platform/accounts/accounts.h"
#include "platform/worlds/import_export.h"
#include "platform/messages/world/world.h"

/* --- import from a world file -------------------------------------------------------- */

static const char GUILD_OF_CHANNEL[] = "select guild_id from channels where id = $1";
static const char WEBHOOK_NAME[] = "select name from webhooks where id = $1";

static enum err read_webhook_author(struct world_file_importer *im, const struct world_message *m,
                                    struct imported_message_author *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, WEBHOOK_NAME, BIND(v_id(ret->webhook)), &row, &found);

    if (e)
        return e;
    ret->name = m->username.given == GIVEN ? m->username : opt_str_or_null(row_text(&row, 0));
    if (m->avatar_url.given == GIVEN)
        e = external_picture_insert_url(im->tx, ret->webhook, m->avatar_url.value, &ret->avatar);
    return e;
}

/* If the text is the id of a webhook that does not exist, sets *ret to this id. The imported
 * message then shows the name that the webhook had. */
static enum err find_deleted_webhook(struct world_file_importer *im, struct str text,
                                     snowflake *ret)
{
    snowflake id;
    bool found;

    if (!snowflake_parse(text, &id))
        return OK;
    enum err e = tx_exists(im->tx, WEBHOOK_NAME, BIND(v_id(id)), &found);
    if (!e && !found)
        *ret = id;
    return e;
}

enum err import_message_author(struct world_file_importer *im, const struct world_message *m,
                               snowflake channel, const struct json_path *up,
                               struct imported_message_author *ret)
{
    struct json_path author_at = json_path_key(up, STR("author")),
                     webhook_at = json_path_key(up, STR("webhook"));
    struct rows row;
    bool found;

    if (m->author.given == GIVEN)
        return world_file_resolve_reference(im, &user_naming, 0, m->author.value, &author_at,
                                            &ret->author);
    enum err e = tx_one(im->tx, GUILD_OF_CHANNEL, BIND(v_id(channel)), &row, &found);
    if (!e && m->username.given == GIVEN)
        e = find_deleted_webhook(im, m->webhook.value, &ret->webhook);
    if (ret->webhook)
        ret->name = m->username;
    else if (!e)
        e = world_file_resolve_reference(im, &webhook_naming, row_id(&row, 0), m->webhook.value,
                                         &webhook_at, &ret->webhook);
    ret->author = ret->webhook;
    if (ret->name.given == GIVEN)
        return e;
    return e || !ret->webhook ? e : read_webhook_author(im, m, ret);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char READ_WEBHOOK_AUTHORS[] =
    "select m.id, h.id, m.webhook_name, h.name, p.url from messages m join webhooks h on "
    "h.id = m.webhook_id left join picture_addresses p on p.owner_id = h.id and "
    "p.hash = m.webhook_avatar where m.channel_id = $1 and m.webhook_id is not null order by m.id";

enum err export_message_authors(struct world_file_exporter *ex, struct world_file_entries to)
{
    struct rows r;
    enum err e = tx_query(ex->tx, READ_WEBHOOK_AUTHORS, BIND(v_id(ex->channel)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_message *m = world_file_entry_find_field(&to, row_id(&r, 0));

        if (!m)
            continue; /* the message is not exported */
        m->webhook = opt_str_or_null(format_id_string(ex->tx, row_id(&r, 1)));
        if (!str_eq(row_text(&r, 2), row_text(&r, 3)))
            m->username = export_nondefault_text(&r, 2, NULL);
        m->avatar_url = export_nondefault_text(&r, 4, NULL);
    }
    return rows_end(&r);
}
