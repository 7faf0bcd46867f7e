/* sessions.c - operator commands for gateway sessions and voice connections. */
#include "base/map.h"
#include "base/mem.h"
#include "gateway/gateway.h"
#include "json/write.h"
#include "admin/orders/internal.h"
#include "relay/relay.h"

static const char LINE_BEGINNING[] = "{\"user_id\":\"";

/* `lines` is the output of gateway_census, `named` the same with "name" after "user_id". `users`
 * (each account once) and `voice` (voice states) are for the console only. */
struct session_lines {
    struct str lines;
    bool for_console;
    struct buf named, users, voice;
};

static enum err name_line(struct tx *tx, struct session_lines *l, struct map *seen, struct str line)
{
    struct json named = json_to(&l->named), users = json_to(&l->users);
    struct str rest = str_from(line, sizeof LINE_BEGINNING - 1), id = str_cut(&rest, '"');
    struct rows row;
    snowflake user;
    bool found = false;
    enum err e = snowflake_parse(id, &user) ? tx_one(tx, "select username from users where id = $1",
                                                     BIND(v_id(user)), &row, &found)
                                            : OK;

    if (e)
        return e;
    buf_printf(&l->named, "%s%.*s\",\"name\":", LINE_BEGINNING, STR_FMT(id));
    json_text(&named, found ? row_text(&row, 0) : STR(""));
    buf_printf(&l->named, "%.*s\n", STR_FMT(rest));
    if (found && !map_put(seen, user, l)) {
        users.comma = l->users.n > 0;
        json_key(&users, id);
        json_text(&users, row_text(&row, 0));
    }
    return OK;
}

static const char VOICE_NOW[] =
    "select user_id, guild_id, channel_id, session_id, live from voice_states order by user_id "
    "limit 1000";

static enum err write_voices(struct tx *tx, struct buf *out)
{
    struct rows r;
    enum err e = tx_query(tx, VOICE_NOW, NO_BIND, &r);

    while (!e && rows_next(&r))
        row_write(out, "&user_id\t&guild_id\t&channel_id\t$session_id\t?connected", true, r.row);
    return e ? e : rows_end(&r);
}

static enum err name_lines(struct tx *tx, void *arg)
{
    struct session_lines *l = arg;
    struct map seen;
    enum err e = OK;

    buf_reset(&l->named);
    buf_reset(&l->users);
    buf_reset(&l->voice);
    map_init(&seen);
    for (struct str lines = l->lines; lines.n && !e;)
        e = name_line(tx, l, &seen, str_cut(&lines, '\n'));
    map_clear(&seen);
    return !e && l->for_console ? write_voices(tx, &l->voice) : e;
}

static void write_for_console(const struct session_lines *l, struct buf *out)
{
    struct json j = json_to(out);

    buf_printf(out, "{\"users\":{%.*s},\"sessions\":", STR_FMT(buf_str(&l->users)));
    json_array(&j);
    for (struct str rest = buf_str(&l->named); rest.n;)
        json_raw(&j, str_cut(&rest, '\n'));
    json_array_end(&j);
    buf_printf(out, ",\"voice\":[%.*s]}", STR_FMT(buf_str(&l->voice)));
}

/* Reads the names on this thread, which may block, because there may be 10,000. */
static enum err answer_lines(struct order *o, const struct buf *census)
{
    struct session_lines l = { .lines = buf_str(census), .for_console = o->as_json };

    buf_init(&l.named, o->out.max);
    buf_init(&l.users, o->out.max);
    buf_init(&l.voice, o->out.max);
    enum err e = store_run(api_options(o->api)->store, STORE_READ, NULL, name_lines, &l);
    if (!e && o->as_json)
        write_for_console(&l, &o->out);
    else if (!e)
        buf_add_str(&o->out, buf_str(&l.named));
    if (!e && (buf_full(census) || buf_full(&l.named) || buf_full(&l.users)))
        e = ERR_ANSWER_TOO_LARGE;
    buf_clear(&l.named);
    buf_clear(&l.users);
    buf_clear(&l.voice);
    return e;
}

enum err order_sessions(struct order *o)
{
    struct buf census;

    buf_init(&census, o->out.max);
    gateway_census(api_options(o->api)->gateway, &census);
    enum err e = answer_lines(o, &census);
    buf_clear(&census);
    return e;
}

enum err order_sessions_voice(struct order *o)
{
    struct buf census;

    buf_init(&census, o->out.max);
    relay_census(o->relay, &census);
    enum err e = answer_lines(o, &census);
    buf_clear(&census);
    return e;
}

struct session_push {
    struct str action;
    struct opt_int code;
};

static const struct type type_action = { .kind = KIND_STRING, .max = 20 };
static const struct type type_close_code = { .kind = KIND_INT, .min = 1000, .max = 4999 };
static const struct field push_fields[] = {
    { FIELD(struct session_push, action), .type = &type_action,
      .doc = "reconnect (op 7), invalidate (op 9), resumable (op 9, true), close" },
    { FIELD(struct session_push, code), .type = &type_close_code, .flags = OPTIONAL,
      .doc = "Of a close; 4000 without it, after which clients resume" },
    { 0 },
};
static const struct schema push_schema = { .name = "SessionPush",
                                           .size = sizeof(struct session_push),
                                           .fields = push_fields };
const struct type order_push_type = { .kind = KIND_OBJECT, .schema = &push_schema };

/* Returns whether an endpoint may send the close code; 1005 and 1006 are reserved. */
static bool can_be_sent(int64_t code)
{
    return (code >= 3000 && code <= 4999) || (code >= 1000 && code <= 1003) ||
           (code >= 1007 && code <= 1014);
}

static enum err push_named(struct call *call, struct order *o, enum gateway_push what, int code)
{
    struct gateway *g = api_options(call->api)->gateway;
    struct str who = o->words[0];
    struct rows row;
    bool found;

    if (gateway_push(g, who, what, code))
        return OK;
    enum err e = tx_one(call->tx, "select id from users where username = $1", BIND(v_text(who)),
                        &row, &found);
    if (!e && (!found || !gateway_push_account(g, row_id(&row, 0), what, code)))
        e = order_refuse(
            o, ERR_NOT_FOUND,
            str_dupz(o->arena, str_printf(o->arena, "'%.*s' has no session", STR_FMT(who))));
    return e;
}

/* Without a body the verb is the action, and the second argument is the close code. */
static struct session_push read_push(const struct order *o)
{
    struct session_push in = { .action = str_of(o->row->verb) };

    if (o->body)
        return *(const struct session_push *)o->body;
    if (str_is(in.action, "drop"))
        in.action = STR("close");
    if (o->count > 1)
        in.code.given = GIVEN;
    if (o->count > 1 && !str_to_i64(o->words[1], &in.code.value))
        in.code.value = 0;
    return in;
}

enum err order_sessions_push(struct call *call, struct order *o)
{
    static const char *const actions[] = {
        [GATEWAY_PUSH_RECONNECT] = "reconnect",
        [GATEWAY_PUSH_INVALIDATE] = "invalidate",
        [GATEWAY_PUSH_RESUMABLE] = "resumable",
        [GATEWAY_PUSH_CLOSE] = "close",
    };
    struct session_push in = read_push(o);
    int64_t code = in.code.given ? in.code.value : 4000;
    int what = 0;

    while (what < (int)COUNT_OF(actions) && !str_is(in.action, actions[what]))
        what++;
    if (what == (int)COUNT_OF(actions))
        return call_invalid(call, "action", FORM_CHOICES,
                            "Must be one of reconnect, invalidate, resumable, close.");
    if (!can_be_sent(code))
        return call_invalid(call, "code", FORM_CHOICES, "No endpoint may send this code.");
    return push_named(call, o, (enum gateway_push)what, (int)code);
}
