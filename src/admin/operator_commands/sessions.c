/* sessions.c - operator commands for gateway sessions and voice connections. */
#include "base/map.h"
#include "base/mem.h"
#include "gateway/gateway.h"
#include "json/write.h"
#include "admin/operator_commands/internal.h"
#include "relay/relay.h"

static const char SESSION_LINE_PREFIX[] = "{\"user_id\":\"";

/* List of sessions. `lines` is the output of gateway_write_session_list. `named` is the same, with
 * a column "name" after "user_id". Only the console needs `users` (each account once) and `voice`
 * (voice states). */
struct session_lines {
    struct str lines;
    bool for_console;
    struct buf named, users, voice;
};

static enum err add_username_to_session_line(struct tx *tx, struct session_lines *l,
                                             struct map *seen, struct str line)
{
    struct json_writer named = json_writer_to_buf(&l->named), users = json_writer_to_buf(&l->users);
    struct str rest = str_skip_bytes(line, sizeof SESSION_LINE_PREFIX - 1),
               id = str_cut(&rest, '"');
    struct rows row;
    snowflake user;
    bool found = false;
    enum err e = snowflake_parse(id, &user) ? tx_one(tx, "select username from users where id = $1",
                                                     BIND(v_id(user)), &row, &found)
                                            : OK;

    if (e)
        return e;
    buf_printf(&l->named, "%s%.*s\",\"name\":", SESSION_LINE_PREFIX, STR_ARGS(id));
    json_write_text(&named, found ? row_text(&row, 0) : STR(""));
    buf_printf(&l->named, "%.*s\n", STR_ARGS(rest));
    if (found && !map_set_value(seen, user, l)) {
        users.comma = l->users.n > 0;
        json_write_key(&users, id);
        json_write_text(&users, row_text(&row, 0));
    }
    return OK;
}

static const char SELECT_VOICE_STATES[] =
    "select user_id, guild_id, channel_id, session_id, live from voice_states order by user_id "
    "limit 1000";

static enum err write_voice_states_json(struct tx *tx, struct buf *out)
{
    struct rows r;
    enum err e = tx_query(tx, SELECT_VOICE_STATES, NO_BIND, &r);

    while (!e && rows_next(&r))
        operator_command_write_output_row(
            out, "&user_id\t&guild_id\t&channel_id\t$session_id\t?connected", true, r.row);
    return e ? e : rows_end(&r);
}

static enum err add_usernames_to_session_lines(struct tx *tx, void *arg)
{
    struct session_lines *l = arg;
    struct map seen;
    enum err e = OK;

    buf_reset(&l->named);
    buf_reset(&l->users);
    buf_reset(&l->voice);
    map_init(&seen);
    for (struct str lines = l->lines; lines.n && !e;)
        e = add_username_to_session_line(tx, l, &seen, str_cut(&lines, '\n'));
    map_clear(&seen);
    return !e && l->for_console ? write_voice_states_json(tx, &l->voice) : e;
}

static void write_sessions_json(const struct session_lines *l, struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    buf_printf(out, "{\"users\":{%.*s},\"sessions\":", STR_ARGS(buf_as_str(&l->users)));
    json_begin_array(&j);
    for (struct str rest = buf_as_str(&l->named); rest.n;)
        json_write_raw(&j, str_cut(&rest, '\n'));
    json_end_array(&j);
    buf_printf(out, ",\"voice\":[%.*s]}", STR_ARGS(buf_as_str(&l->voice)));
}

/* Reads the names of up to 10,000 accounts on this thread, which may block. */
static enum err reply_with_session_lines(struct running_operator_command *o,
                                         const struct buf *session_list)
{
    struct session_lines l = { .lines = buf_as_str(session_list), .for_console = o->as_json };

    buf_init(&l.named, o->out.max);
    buf_init(&l.users, o->out.max);
    buf_init(&l.voice, o->out.max);
    enum err e = store_run_transaction_and_wait(api_get_options(o->api)->store, STORE_READ, NULL,
                                                add_usernames_to_session_lines, &l);
    if (!e && o->as_json)
        write_sessions_json(&l, &o->out);
    else if (!e)
        buf_add_str(&o->out, buf_as_str(&l.named));
    if (!e && (buf_is_full(session_list) || buf_is_full(&l.named) || buf_is_full(&l.users)))
        e = ERR_ANSWER_TOO_LARGE;
    buf_clear(&l.named);
    buf_clear(&l.users);
    buf_clear(&l.voice);
    return e;
}

enum err operator_sessions_list(struct running_operator_command *o)
{
    struct buf session_list;

    buf_init(&session_list, o->out.max);
    gateway_write_session_list(api_get_options(o->api)->gateway, &session_list);
    enum err e = reply_with_session_lines(o, &session_list);
    buf_clear(&session_list);
    return e;
}

enum err operator_voice_sessions_list(struct running_operator_command *o)
{
    struct buf session_list;

    buf_init(&session_list, o->out.max);
    relay_list_participants(o->relay, &session_list);
    enum err e = reply_with_session_lines(o, &session_list);
    buf_clear(&session_list);
    return e;
}

struct session_action_request {
    struct str action;
    struct opt_int code;
};

static const struct type type_action = { .kind = KIND_STRING, .max = 20 };
static const struct type type_close_code = { .kind = KIND_INT, .min = 1000, .max = 4999 };
static const struct field session_action_fields[] = {
    { FIELD(struct session_action_request, action), .type = &type_action,
      .doc = "reconnect (op 7), invalidate (op 9), resumable (op 9, true), close" },
    { FIELD(struct session_action_request, code), .type = &type_close_code, .flags = OPTIONAL,
      .doc = "Close code; default 4000, after which clients resume" },
    { 0 },
};
static const struct schema session_action_schema = { .name = "SessionPush",
                                                     .size = sizeof(struct session_action_request),
                                                     .fields = session_action_fields };
const struct type operator_session_action_type = { .kind = KIND_OBJECT,
                                                   .schema = &session_action_schema };

/* Returns whether the server may send this WebSocket close code. 1005 and 1006 are reserved. */
static bool close_code_can_be_sent(int64_t code)
{
    return (code >= 3000 && code <= 4999) || (code >= 1000 && code <= 1003) ||
           (code >= 1007 && code <= 1014);
}

static enum err run_action_on_session_or_account(struct call *call,
                                                 struct running_operator_command *o,
                                                 enum operator_action_on_session what, int code)
{
    struct gateway *g = api_get_options(call->api)->gateway;
    struct str who = o->words[0];
    struct rows row;
    bool found;

    if (gateway_run_operator_action_on_session(g, who, what, code))
        return OK;
    enum err e = tx_one(call->tx, "select id from users where username = $1", BIND(v_text(who)),
                        &row, &found);
    if (!e && (!found || !gateway_run_operator_action_on_account(g, row_id(&row, 0), what, code)))
        e = operator_command_set_error_sentence(
            o, ERR_NOT_FOUND,
            str_dup_cstring(o->arena,
                            str_printf(o->arena, "'%.*s' has no session", STR_ARGS(who))));
    return e;
}

/* Parses a session action. Without a body, the verb is the action, and the second argument is the
 * close code. */
static struct session_action_request parse_session_action(const struct running_operator_command *o)
{
    struct session_action_request in = { .action = str_of(o->row->verb) };

    if (o->body)
        return *(const struct session_action_request *)o->body;
    if (str_is(in.action, "drop"))
        in.action = STR("close");
    if (o->count > 1)
        in.code.given = GIVEN;
    if (o->count > 1 && !str_to_i64(o->words[1], &in.code.value))
        in.code.value = 0;
    return in;
}

enum err operator_session_apply_test_action(struct call *call, struct running_operator_command *o)
{
    static const char *const actions[] = {
        [GATEWAY_ACTION_RECONNECT] = "reconnect",
        [GATEWAY_ACTION_INVALIDATE] = "invalidate",
        [GATEWAY_ACTION_RESUMABLE] = "resumable",
        [GATEWAY_ACTION_CLOSE] = "close",
    };
    struct session_action_request in = parse_session_action(o);
    int64_t code = in.code.given ? in.code.value : 4000;
    int what = 0;

    while (what < (int)COUNT_OF(actions) && !str_is(in.action, actions[what]))
        what++;
    if (what == (int)COUNT_OF(actions))
        return call_add_field_error(call, "action", FORM_CHOICES,
                                    "Must be one of reconnect, invalidate, resumable, close.");
    if (!close_code_can_be_sent(code))
        return call_add_field_error(call, "code", FORM_CHOICES, "This code must not be sent.");
    return run_action_on_session_or_account(call, o, (enum operator_action_on_session)what,
                                            (int)code);
}
