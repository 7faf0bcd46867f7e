/* full_buffers.c - what does not fit is refused: nothing is cut, kept or told. */
#include <stdio.h>
#include <string.h>

#include "channels.h"
#include "gateway_conn.h"
#include "gateway_source/gateway_source.h"
#include "guilds.h"
#include "model/fields/rows.h"
#include "platform/accounts/accounts.h"

/* --- a domain that makes as much as it is asked for ----------------------------------- */

struct order {
    int64_t bytes;
};
struct word {
    struct str word;
};

static const struct type type_bytes = { .kind = KIND_INT, .min = 0, .max = 1 << 30 };
static const struct type type_word = { .kind = KIND_RAW }; /* quick to write, also when large */
static const struct field order_fields[] = {
    { FIELD(struct order, bytes), .type = &type_bytes },
    { 0 },
};
static const struct schema order_schema = { "Order", sizeof(struct order), order_fields,
                                            .doc = "How much." };
static const struct type order_type = { .kind = KIND_OBJECT, .schema = &order_schema };
static const struct field word_fields[] = {
    { FIELD(struct word, word), .type = &type_word },
    { 0 },
};
static const struct schema word_schema = { "Word", sizeof(struct word), word_fields,
                                           .doc = "As much." };
static const struct type type_word_object = { .kind = KIND_OBJECT, .schema = &word_schema };
static const struct field shown_fields[] = {
    { FIELD(struct word, word), .type = &type_text },
    { 0 },
};
static const struct schema shown_schema = { "Shown", sizeof(struct word), shown_fields,
                                            .doc = "As it is kept." };
static const struct type type_shown_object = { .kind = KIND_OBJECT, .schema = &shown_schema };

enum { MIB = 1024 * 1024, MOST = 64 * MIB };

/* Made before the server is asked: no call shall take long because of its test. */
static char texts[MOST + 1];

static void fill_texts(void)
{
    memset(texts, 'x', MOST);
    texts[0] = '"';
}

/* A text as JSON, of that many bytes with its quotes. */
static struct str letters(struct call *call)
{
    size_t n = (size_t)((const struct order *)call->body)->bytes;

    if (n > 4 * MIB)
        return str_slice(texts, n); /* nobody gets to its end */
    return STR_CONCAT(call->arena, str_slice(texts, n - 1), STR("\""));
}

static enum err note(struct call *call, struct str text)
{
    return tx_exec(call->tx, "update users set bio = $1 where id = $2",
                   BIND(v_text(text), v_id(call->caller->id)), NULL);
}

static enum err order_reply(struct call *call)
{
    struct word word = { letters(call) };
    enum err e = note(call, STR("replied"));

    return e ? e : call_reply_as(call, &type_word_object, &word);
}

static enum err order_line(struct call *call)
{
    call_add_header(call, "X-Long", letters(call));
    call_add_header(call, "X-Next", STR("next"));
    return note(call, STR("line"));
}

static enum err order_column(struct call *call)
{
    struct str text = letters(call);

    return note(call, column_encode(call->arena, &type_word, &text));
}

static enum err order_event(struct call *call)
{
    struct word word = { letters(call) };

    call_emit(call, EVENT_USER_UPDATE, to_user(call->caller->id), &word_schema, &word);
    return note(call, STR("told"));
}

/* Of what it wrote, only as much as a test can look at. */
static enum err get_note(struct call *call)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select bio from users where id = $1",
                        BIND(v_id(call->caller->id)), &row, &found);
    struct str bio = e ? STR("") : row_text(&row, 0);

    return e ? e
             : call_reply_as(call, &type_shown_object,
                             &(struct word){ str_slice(bio.p, bio.n < 16 ? bio.n : 16) });
}

#define ORDER(path_, handle_)                                                        \
    {                                                                                \
        .method = POST, .path = path_, .name = #handle_, .doc = "As much as asked.", \
        .auth = AUTH_USER, .body = &order_type, .status = 200, .handle = handle_     \
    }

static const struct route routes[] = {
    ORDER("/reply", order_reply),
    ORDER("/line", order_line),
    ORDER("/column", order_column),
    ORDER("/event", order_event),
    { .method = GET,
      .path = "/note",
      .name = "get_note",
      .doc = "What was kept.",
      .auth = AUTH_USER,
      .status = 200,
      .handle = get_note },
    { 0 },
};
static const struct domain orders = { .name = "Orders", .doc = "For tests.", .routes = routes };
static const struct domain *const served[] = { &orders, NULL };

/* --- the tests ------------------------------------------------------------------------ */

static struct answer order(struct client *c, const char *path, long long bytes)
{
    char body[64];

    fill_texts();
    snprintf(body, sizeof body, "{'bytes': %lld}", bytes);
    return client_post(c, body, "%s", path);
}

static void expect_note(struct client *c, const char *word)
{
    struct answer a = client_get(c, "/note");

    expect_status(a, 200);
    expect(strcmp(answer_text(a, "word"), word) == 0);
}

static void answers_are_whole_or_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_log_begin(w);
    expect_error(order(ada, "/reply", MOST - 7), 413, 40005);
    expect(strstr(world_log_end(w), "order_reply"));
    expect_note(ada, "");
    struct answer a = order(ada, "/reply", 4 * MIB);
    expect_status(a, 200);
    expect(a.body.n == 4 * MIB + 9); /* {"word":} */
    expect_note(ada, "replied");
}

static void lines_of_answers_are_whole_or_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(order(ada, "/line", 8 * 1024), 413, 40005);
    expect_note(ada, "");
    struct answer a = order(ada, "/line", 7 * 1024);
    expect_status(a, 200);
    expect(answer_header(a, "X-Long").n == 7 * 1024);
    expect(str_is(answer_header(a, "X-Next"), "next"));
    expect_note(ada, "line");
}

static void columns_are_whole_or_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(order(ada, "/column", 4 * MIB + 1), 413, 40005);
    expect_note(ada, "");
    expect_status(order(ada, "/column", 4 * MIB), 200);
    expect_note(ada, "\"xxxxxxxxxxxxxxx");
}

static void events_are_whole_or_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(order(ada, "/event", MOST - 7), 413, 40005);
    expect_note(ada, "");
    expect_silence(ada);
    expect_status(order(ada, "/event", 5), 200);
    expect_event(ada, "USER_UPDATE", "{'word': 'xxx'}");
}

/* --- guilds that READY has no room for ------------------------------------------------- */

/* A guild with three megabytes of something. */
static enum err large_guild(struct tx *tx, const struct member *m, const struct gateway_viewer *v,
                            struct json *out)
{
    (void)tx, (void)v;
    json_object(out);
    json_name(out, "id");
    json_id(out, m->guild_id);
    json_name(out, "name");
    json_raw(out, str_slice(texts, 3 * MIB));
    buf_add_char(out->out, '"');
    json_object_end(out);
    return OK;
}

static void expect_late_guilds(struct gateway_conn *g, const struct dom *ready,
                               const char *const *ids)
{
    const struct dom *guilds = dom_at(ready, "guilds");

    expect(guilds && guilds->count == 3);
    expect(dom_at(guilds, "0.name") || dom_at(guilds, "0.properties.name"));
    for (size_t i = 1; i < 3; i++) {
        expect(guilds->items[i].count == 2);
        expect(dom_at(&guilds->items[i], "unavailable")->truth);
    }
    for (size_t i = 1; i < 3; i++) {
        const struct dom *d =
            expect_dispatch(g, "GUILD_CREATE", "{'id': '%s', 'unavailable': false}", ids[i]);

        expect(dom_at(d, "name")->text.n == 3 * MIB - 1);
    }
}

static void guilds_that_ready_has_no_room_for_come_after_it(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *ids[3];
    struct gateway_source source = gateway_source;

    fill_texts();
    for (size_t i = 0; i < 3; i++)
        ids[i] = found_guild(ada, "Large");
    source.guild = large_guild;
    world_use_source(w, &source);
    struct gateway_conn *g = conn_open(ada, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "");
    expect_late_guilds(g, expect_dispatch(g, "READY", "{}"), ids);
    /* Events of such a guild are heard, too. */
    make_channel(ada, ids[2], "{'name': 'c'}");
    expect_dispatch(g, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'guild_id': '%s'}", ids[2]);
    expect_dispatch(g, "CHANNEL_CREATE", "{'guild_id': '%s'}", ids[2]);
    conn_kill(g);
    struct gateway_conn *shaped = conn_open(ada, "v=10&encoding=json");
    expect_op(shaped, 10);
    conn_identify(shaped, "'capabilities': 1040"); /* users once, fields under "properties" */
    expect_late_guilds(shaped, expect_dispatch(shaped, "READY", "{}"), ids);
    world_stop(w);
}

const struct test full_buffers_tests[] = {
    TEST_ON(answers_are_whole_or_refused, NULL, served),
    TEST_ON(lines_of_answers_are_whole_or_refused, NULL, served),
    TEST_ON(columns_are_whole_or_refused, NULL, served),
    TEST_ON(events_are_whole_or_refused, NULL, served),
    TEST(guilds_that_ready_has_no_room_for_come_after_it),
    { 0 },
};
