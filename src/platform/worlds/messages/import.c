/* import.c - direct channels, groups, and what was said anywhere. */
#include "base/clock.h"
#include "model/channel.h"
#include "model/fields/ids.h"
#include "platform/messages/messages.h"
#include "platform/worlds/messages/messages.h"

/* --- messages ------------------------------------------------------------------------- */

static const char COUNT_MESSAGES_IN[] = "select count(*) from messages where channel_id = $1";
static const char FIND_MESSAGE[] = "select 1 from messages where id = $1";
static const char ADD_MESSAGE[] =
    "insert into messages (id, channel_id, author_id, content, edited_at, embeds, pinned, shown, "
    "webhook_id, webhook_name, webhook_avatar) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
static const char NOTE_LAST[] =
    "update channels set last_message_id = "
    "(select max(id) from messages where channel_id = $1) where id = $1";

/* An id of that moment that nobody has. */
static enum err free_id(struct importing *im, int64_t ms, snowflake *ret)
{
    struct rows row;
    bool taken = true;
    enum err e = OK;

    for (*ret = snowflake_at(ms); taken && !e; *ret += taken)
        e = tx_one(im->tx, FIND_MESSAGE, BIND(v_id(*ret)), &row, &taken);
    return e;
}

/* Which id a message gets; 0: it was imported before. */
static enum err message_id(struct importing *im, const struct world_message *m, bool quiet,
                           snowflake *ret)
{
    struct rows row;
    bool known;

    *ret = 0;
    if (m->id.given == GIVEN) {
        enum err e = tx_one(im->tx, FIND_MESSAGE, BIND(v_id(m->id.value)), &row, &known);

        *ret = known ? 0 : m->id.value;
        return e;
    }
    if (!quiet)
        return OK;
    if (m->at.given == GIVEN)
        return free_id(im, m->at.value / 1000, ret);
    return free_id(im, clock_ms() - m->minutes_ago.value * 60000, ret);
}

static enum err add_message(struct importing *im, const struct world_message *m, snowflake channel,
                            snowflake id, const struct world_speaker *by)
{
    struct message made = message_plain(id, channel, by->author, m->content);

    made.edited_timestamp = m->edited_at;
    made.pinned = m->pinned.value;
    if (m->embeds.given == GIVEN)
        made.embeds = v_opt_json(im, m->embeds).s;
    made.webhook_id = (struct opt_id){ by->webhook ? GIVEN : ABSENT, by->webhook };
    made.webhook_name = by->name;
    made.webhook_avatar = by->avatar;
    return tx_exec(im->tx, ADD_MESSAGE,
                   BIND(v_id(id), v_id(channel), v_id(by->author), v_text(m->content),
                        v_opt_int(m->edited_at), v_text(made.embeds), v_int(made.pinned),
                        v_text(message_shown_text(im->arena, &made)), v_opt_id(made.webhook_id),
                        v_opt_text(by->name), v_opt_text(by->avatar)),
                   NULL);
}

static enum err import_message(struct importing *im, const struct world_message *m,
                               snowflake channel, bool quiet, const struct place *up)
{
    struct world_speaker by = { 0 };
    snowflake id;
    enum err e = import_speaker(im, m, channel, up, &by);

    if (!e && by.author)
        e = message_id(im, m, quiet, &id);
    if (e || !by.author)
        return e;
    count(im, COUNT_MESSAGES, id != 0);
    if (!id)
        return OK;
    e = add_message(im, m, channel, id, &by);
    if (!e)
        e = import_forward(im, m->forward.value, id);
    if (!e)
        e = import_message_stickers(im, &m->stickers, channel, id, up);
    if (!e)
        e = import_poll(im, m->poll.value, channel, id, up);
    return e ? e : import_reactions(im, &m->reactions, channel, id, up);
}

enum err import_messages(struct importing *im, const struct opt_list *messages, snowflake channel,
                         const struct place *up)
{
    struct place all = place_key(up, STR("messages"));
    const struct world_message *list = messages->value.items;
    struct rows row;
    bool found;

    if (messages->value.count == 0)
        return OK;
    enum err e = tx_one(im->tx, COUNT_MESSAGES_IN, BIND(v_id(channel)), &row, &found);
    bool quiet = !e && row_int(&row, 0) == 0;
    for (size_t i = 0; i < messages->value.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = import_message(im, &list[i], channel, quiet, &at);
    }
    return e ? e : tx_exec(im->tx, NOTE_LAST, BIND(v_id(channel)), NULL);
}

/* --- people of a private channel ------------------------------------------------------ */

static const char ADD_RECIPIENT[] =
    "insert into recipients (channel_id, user_id, since, in_group) "
    "select id, $2, $3, case when type = 3 then 1 else 0 end from channels where id = $1 "
    "on conflict do nothing";

static enum err find_people(struct importing *im, const struct opt_list *people,
                            const struct place *up, struct list *ret)
{
    struct place all = place_key(up, STR("people"));
    const struct str *names = people->value.items;
    enum err e = OK;

    for (size_t i = 0; i < people->value.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = refer(im, &user_naming, 0, names[i], &at, list_add(im->arena, ret, sizeof(snowflake)));
    }
    return e;
}

static enum err add_people(struct importing *im, snowflake channel, const struct list *people)
{
    const snowflake *ids = people->items;
    enum err e = OK;

    for (size_t i = 0; i < people->count && !e; i++)
        e = tx_exec(im->tx, ADD_RECIPIENT,
                    BIND(v_id(channel), v_id(ids[i]), v_int(snowflake_ms(channel) * 1000)), NULL);
    return e;
}

/* --- direct channels ------------------------------------------------------------------ */

static const char FIND_DIRECT[] =
    "select channel_id from direct_channels where low_id = $1 and high_id = $2";
static const char ADD_DIRECT[] =
    "insert into direct_channels (low_id, high_id, channel_id) values ($1, $2, $3)";
static const char ADD_PRIVATE[] =
    "insert into channels (id, type, name, owner_id) values ($1, $2, $3, $4)";

static enum err add_direct(struct importing *im, snowflake id, const struct list *people)
{
    const snowflake *who = people->items;
    bool ordered = who[0] < who[1];
    enum err e =
        tx_exec(im->tx, ADD_PRIVATE, BIND(v_id(id), v_int(CHANNEL_DM), v_null(), v_null()), NULL);

    if (!e)
        e = tx_exec(im->tx, ADD_DIRECT, BIND(v_id(who[!ordered]), v_id(who[ordered]), v_id(id)),
                    NULL);
    return e ? e : add_people(im, id, people);
}

enum err import_direct(struct importing *im, const void *entry, const struct place *at,
                       snowflake id)
{
    const struct world_private *p = entry;
    struct place people_at = place_key(at, STR("people"));
    unsigned before = im->form->problems;
    struct list people = { 0 };
    struct rows row;
    bool known;
    enum err e = find_people(im, &p->people, at, &people);

    if (e || im->form->problems != before)
        return e;
    const snowflake *who = people.items;
    if (people.count != 2 || who[0] == who[1]) {
        form_fail(im->form, &people_at, "WORLD_NOT_TWO", "a direct channel is of two people");
        return OK;
    }
    bool ordered = who[0] < who[1];
    e = tx_one(im->tx, FIND_DIRECT, BIND(v_id(who[!ordered]), v_id(who[ordered])), &row, &known);
    if (e)
        return e;
    count(im, COUNT_CHANNELS, !known);
    id = known ? row_id(&row, 0) : p->id.given == GIVEN ? p->id.value : snowflake_new();
    if (!known)
        e = add_direct(im, id, &people);
    return e ? e : import_messages(im, &p->messages, id, at);
}

/* --- groups --------------------------------------------------------------------------- */

static const char GROUP_BY_ID[] = "select id from channels where id = $1 and type = 3";
static const char GROUP_BY_NAME[] =
    "select id from channels where name = $1 and owner_id = $2 and type = 3 order by id limit 1";

static enum err find_group(struct importing *im, const struct world_private *p, snowflake owner,
                           snowflake *ret)
{
    struct rows row;
    bool known = false;
    enum err e;

    if (p->id.given == GIVEN)
        e = tx_one(im->tx, GROUP_BY_ID, BIND(v_id(p->id.value)), &row, &known);
    else
        e = tx_one(im->tx, GROUP_BY_NAME, BIND(v_opt_text(p->name), v_id(owner)), &row, &known);
    *ret = known ? row_id(&row, 0) : 0;
    return e;
}

enum err import_group(struct importing *im, const void *entry, const struct place *at, snowflake id)
{
    const struct world_private *p = entry;
    struct place owner_at = place_key(at, STR("owner"));
    unsigned before = im->form->problems;
    struct list people = { 0 };
    snowflake owner = 0;
    enum err e = find_people(im, &p->people, at, &people);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &p->owner, &owner_at, &owner);
    if (!owner || (p->id.given != GIVEN && p->name.given != GIVEN))
        form_fail(im->form, at, "WORLD_GROUP", "a group has an owner, and a name or an id");
    if (e || im->form->problems != before)
        return e;
    e = find_group(im, p, owner, &id);
    if (e)
        return e;
    count(im, COUNT_CHANNELS, !id);
    ids_add(im->arena, &people, owner);
    if (!id) {
        id = p->id.given == GIVEN ? p->id.value : snowflake_new();
        e = tx_exec(im->tx, ADD_PRIVATE,
                    BIND(v_id(id), v_int(CHANNEL_GROUP), v_opt_text(p->name), v_id(owner)), NULL);
    }
    if (!e)
        e = add_people(im, id, &people);
    return e ? e : import_messages(im, &p->messages, id, at);
}
