/* content.c - operator commands that show and delete messages and files.
 *
 * The operator log also records that a message was read, because the message may be private. */
#include "admin/operator_commands/internal.h"
#include "platform/channels/channels.h"
#include "platform/messages/messages.h"

/* Parses ".../channels/GUILD/CHANNEL/MESSAGE", "CHANNEL/MESSAGE", or two arguments. */
static bool parse_message_link(const struct running_operator_command *o, snowflake *ret_channel,
                               snowflake *ret_message)
{
    struct str rest = o->words[0], channel = { 0 }, message = o->count > 1 ? o->words[1] : STR("");

    if (o->count > 1)
        channel = rest;
    else
        while (rest.n) {
            channel = message;
            message = str_cut(&rest, '/');
        }
    return snowflake_parse(channel, ret_channel) && snowflake_parse(message, ret_message);
}

static enum err operator_find_message(struct call *call, struct running_operator_command *o,
                                      struct channel *ret_channel, struct message *ret)
{
    snowflake channel_id, id;
    enum err e = ERR_UNKNOWN_MESSAGE;

    if (parse_message_link(o, &channel_id, &id)) {
        e = channel_find(call->tx, channel_id, ret_channel);
        if (!e)
            e = message_find_even_ephemeral(call, channel_id, id, ret);
    }
    if (e == ERR_UNKNOWN_MESSAGE || e == ERR_UNKNOWN_CHANNEL)
        o->problem = "there is no such message; pass its link, or channel id and message id";
    return e;
}

static struct str format_attachment_ids(struct call *call, const struct message *m)
{
    const struct attachment *a = m->attachments.items;
    struct buf out;

    buf_init(&out, 4096);
    for (size_t i = 0; i < m->attachments.count; i++)
        buf_printf(&out, "%s%llu", i ? " " : "", (unsigned long long)a[i].id);
    return buf_move_to_arena(&out, call->arena);
}

enum err operator_message_show(struct call *call, struct running_operator_command *o)
{
    struct channel channel;
    struct message m;
    enum err e = operator_find_message(call, o, &channel, &m);

    if (!e)
        OPERATOR_ROW(o, v_id(m.id), v_id(m.channel_id), v_id(channel.guild_id.value),
                     v_id(m.author_id), v_text(m.author ? m.author->username : STR("")),
                     v_int(snowflake_to_ms(m.id) * 1000),
                     v_int(m.edited_timestamp.given == GIVEN ? m.edited_timestamp.value : 0),
                     v_text(format_attachment_ids(call, &m)), v_text(m.content), v_text(m.embeds));
    return e;
}

enum err operator_message_delete(struct call *call, struct running_operator_command *o)
{
    struct channel channel;
    struct message m;
    enum err e = operator_find_message(call, o, &channel, &m);

    if (!e)
        e = message_delete(call, &channel, &m);
    if (!e)
        OPERATOR_ROW(o, v_id(m.id), v_id(m.channel_id), v_cstr("deleted"));
    return e;
}

static enum err add_purge_progress_row(struct call *call, struct running_operator_command *o,
                                       const struct user *u)
{
    struct message_purge_progress p = { 0 };
    enum err e = read_message_purge_progress(call->tx, u->id, &p);

    if (!e)
        OPERATOR_ROW(o, v_id(u->id), v_text(u->username),
                     v_cstr(p.is_running ? "running" : "not running"), v_int(p.handled),
                     v_int(p.next_id ? snowflake_to_ms(p.next_id) * 1000 : 0));
    return e;
}

enum err operator_message_purge(struct call *call, struct running_operator_command *o)
{
    struct message_purge_progress p = { 0 };
    struct user u;
    enum err e = operator_command_find_user_of_argument(call, o, 0, &u);

    if (!e)
        e = read_message_purge_progress(call->tx, u.id, &p);
    if (!e && !p.is_running)
        e = messages_schedule_purge_of_account(call, u.id);
    return e ? e : add_purge_progress_row(call, o, &u);
}

enum err operator_message_purge_show_progress(struct call *call, struct running_operator_command *o)
{
    struct user u;
    enum err e = operator_command_find_user_of_argument(call, o, 0, &u);

    return e ? e : add_purge_progress_row(call, o, &u);
}

static enum err refuse_unknown_file(struct running_operator_command *o)
{
    return operator_command_set_error_sentence(
        o, ERR_NOT_FOUND,
        "no message has this file; pass its link, or the id that 'message show' prints");
}

/* Parses an id, or ".../attachments/CHANNEL/ID/NAME" with or without a signature. */
static bool parse_attachment_link(const struct running_operator_command *o, snowflake *ret)
{
    struct str rest = o->words[0];

    if (snowflake_parse(rest, ret))
        return true;
    while (rest.n)
        if (str_is(str_cut(&rest, '/'), "attachments")) {
            str_cut(&rest, '/');
            return snowflake_parse(str_cut(&rest, '/'), ret);
        }
    return false;
}

static const char SELECT_FILE[] =
    "select a.id, a.filename, coalesce(a.content_type, ''), a.size, a.channel_id, a.message_id, "
    "m.author_id, coalesce(f.name, ''), "
    "(select count(*) from attachments b where b.file_id = a.file_id) "
    "from attachments a join messages m on m.id = a.message_id "
    "left join files f on f.id = a.file_id where a.id = $1";

enum err operator_file_show(struct call *call, struct running_operator_command *o)
{
    struct rows row;
    snowflake id;
    bool found;

    if (!parse_attachment_link(o, &id))
        return refuse_unknown_file(o);
    enum err e = tx_one(call->tx, SELECT_FILE, BIND(v_id(id)), &row, &found);
    if (e || !found)
        return e ? e : refuse_unknown_file(o);
    operator_command_add_output_row(o, row.row);
    return OK;
}

enum err operator_file_delete(struct call *call, struct running_operator_command *o)
{
    int64_t messages;
    snowflake id;
    bool more;

    if (!parse_attachment_link(o, &id))
        return refuse_unknown_file(o);
    enum err e = attachment_remove_from_all_messages(call, id, &messages, &more);
    if (e == ERR_NOT_FOUND)
        return refuse_unknown_file(o);
    if (e)
        return e;
    OPERATOR_ROW(o, v_id(id), v_cstr(more ? "more messages have it: repeat this" : "deleted"),
                 v_int(messages));
    return OK;
}
