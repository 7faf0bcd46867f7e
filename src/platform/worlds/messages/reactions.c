/* reactions.c - emoji under messages, in and out of world files. */
#include "platform/worlds/messages/messages.h"

/* --- in ------------------------------------------------------------------------------- */

static const char EMOJI_BY_NAME[] =
    "select min(e.id), count(*) from emojis e join channels c on c.guild_id = e.guild_id "
    "where c.id = $1 and e.name = $2";
static const char EMOJI_MARKS[] = "select name, animated from emojis where id = $1 union all "
                                  "select name, animated from application_emojis where id = $1";
static const char ADD_REACTION[] =
    "insert into reactions (id, message_id, emoji_key, emoji_id, name, animated) "
    "values ($1, $2, $3, $4, $5, $6)";
static const char ADD_USER[] =
    "insert into reaction_users (reaction_id, burst, user_id, message_id) select id, 0, "
    "cast($2 as bigint), message_id from reactions where id = $1 on conflict do nothing";
static const char ADD_COUNT[] =
    "insert into reaction_counts (reaction_id, lane, normal, burst) values ($1, 0, $2, 0)";
static const char MARK_REACTED[] = "update messages set reacted = 1 where id = $1";

/* Characters of Unicode, name:id, or the name of an emoji of the channel's guild. */
enum err world_emoji_named(struct importing *im, struct str text, snowflake channel,
                           const struct place *at, struct reaction_name *ret)
{
    struct rows row;
    bool found;

    if (reaction_read(im->arena, text, ret))
        return OK;
    enum err e = tx_one(im->tx, EMOJI_BY_NAME, BIND(v_id(channel), v_text(text)), &row, &found);
    if (e)
        return e;
    if (row_int(&row, 1) != 1)
        form_fail(im->form, at, "WORLD_UNKNOWN", "there is no emoji '%.*s'", STR_FMT(text));
    else
        reaction_read(
            im->arena,
            str_printf(im->arena, "%.*s:%llu", STR_FMT(text), (unsigned long long)row_id(&row, 0)),
            ret);
    return OK;
}

static enum err write_reaction(struct importing *im, const struct reaction_name *name,
                               snowflake message, const struct list *users)
{
    snowflake id = snowflake_new();
    struct rows row;
    bool brought = false;
    int64_t count = 0, new;
    enum err e = name->id ? tx_one(im->tx, EMOJI_MARKS, BIND(v_id(name->id)), &row, &brought) : OK;

    if (!e)
        e = tx_exec(im->tx, ADD_REACTION,
                    BIND(v_id(id), v_id(message), v_text(name->key),
                         name->id ? v_id(name->id) : v_null(),
                         v_text(brought ? row_text(&row, 0) : name->text),
                         v_int(brought && row_bool(&row, 1))),
                    NULL);
    for (size_t i = 0; !e && i < users->count; i++, count += new)
        e = tx_exec(im->tx, ADD_USER, BIND(v_id(id), v_id(((snowflake *)users->items)[i])), &new);
    return e ? e : tx_exec(im->tx, ADD_COUNT, BIND(v_id(id), v_int(count)), NULL);
}

static enum err import_reaction(struct importing *im, const struct world_reaction *in,
                                snowflake channel, snowflake message, const struct place *up)
{
    struct place emoji_at = place_key(up, STR("emoji")), all = place_key(up, STR("users"));
    const struct str *names = in->users.items;
    unsigned before = im->form->problems;
    struct reaction_name name = { 0 };
    struct list users = { 0 };
    enum err e = world_emoji_named(im, in->emoji, channel, &emoji_at, &name);

    for (size_t i = 0; i < in->users.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = refer(im, &user_naming, 0, names[i], &at,
                  list_add(im->arena, &users, sizeof(snowflake)));
    }
    return e || im->form->problems != before ? e : write_reaction(im, &name, message, &users);
}

enum err import_reactions(struct importing *im, const struct opt_list *reactions, snowflake channel,
                          snowflake message, const struct place *up)
{
    struct place all = place_key(up, STR("reactions"));
    const struct world_reaction *list = reactions->value.items;
    enum err e = OK;

    if (!reactions->value.count)
        return OK;
    for (size_t i = 0; i < reactions->value.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = import_reaction(im, &list[i], channel, message, &at);
    }
    return e ? e : tx_exec(im->tx, MARK_REACTED, BIND(v_id(message)), NULL);
}

/* --- out ------------------------------------------------------------------------------ */

static const char REACTIONS_IN[] =
    "select r.message_id, r.id, r.emoji_id, r.name, u.username from messages m "
    "join reactions r on r.message_id = m.id join reaction_users x on x.reaction_id = r.id "
    "and x.burst = 0 join users u on u.id = x.user_id where m.channel_id = $1 and m.reacted = 1 "
    "order by r.message_id, r.id, x.user_id";

static struct str emoji_text(const struct rows *r)
{
    if (row_null(r, 2))
        return row_text(r, 3);
    return str_printf(tx_arena(r->tx), "%.*s:%llu", STR_FMT(row_text(r, 3)),
                      (unsigned long long)row_id(r, 2));
}

enum err export_reactions(struct tx *tx, snowflake channel, struct opt_list *messages)
{
    struct world_message *m = messages->value.items, *end = m + messages->value.count;
    struct world_reaction *last = NULL;
    snowflake id = 0;
    struct rows r;
    enum err e = messages->value.count ? tx_query(tx, REACTIONS_IN, BIND(v_id(channel)), &r) : OK;

    if (e || !messages->value.count)
        return e;
    while (rows_next(&r)) {
        while (m < end && m->id.value < row_id(&r, 0))
            m++;
        if (m == end || m->id.value != row_id(&r, 0))
            continue; /* what is not exported itself */
        if (row_id(&r, 1) != id) {
            id = row_id(&r, 1);
            last = shown_item(tx, &m->reactions, sizeof *last);
            last->emoji = emoji_text(&r);
        }
        *(struct str *)list_add(tx_arena(tx), &last->users, sizeof(struct str)) = row_text(&r, 4);
    }
    return rows_end(&r);
}
