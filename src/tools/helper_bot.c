/* helper_bot.c - the bot of the demo, which responds to the demo's commands. */
#include "tools/helper_bot.h"

#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "admin/control/control.h"
#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/wire/wire.h"

enum { COMMAND = 2, PRESS = 3, COMPLETE = 4 };             /* interaction types */
enum { SAY = 4, CHANGE = 7, CHOICES = 8, EPHEMERAL = 64 }; /* callback types; message flag */
enum { PAUSE_US = 200 * 1000, MOST_ANSWER = 16 * 1024 };

struct helper_bot {
    const struct config *config;
    char *url, *token;
    _Atomic bool stopping;
    pthread_t thread;
};

/* --- interactions --------------------------------------------------------------------- */

struct helper_option {
    struct str name;
    struct opt_str value;    /* JSON */
    struct opt_list options; /* struct helper_option */
};
struct helper_data {
    struct opt_str name, custom_id;
    struct opt_list options;
};
struct helper_question {
    snowflake id, application_id;
    int64_t type;
    struct str token;
    struct opt_object data; /* struct helper_data */
};

static const struct schema option_schema;
static const struct type type_option = { .kind = KIND_OBJECT, .schema = &option_schema };
static const struct type type_options = { .kind = KIND_ARRAY, .max = 25, .of = &type_option };
static const struct field option_fields[] = {
    { FIELD(struct helper_option, name), .type = &type_text },
    { FIELD(struct helper_option, value), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct helper_option, options), .type = &type_options, .flags = OPTIONAL },
    { 0 },
};
static const struct schema option_schema = { .size = sizeof(struct helper_option),
                                             .fields = option_fields };
static const struct field data_fields[] = {
    { FIELD(struct helper_data, name), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct helper_data, custom_id), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct helper_data, options), .type = &type_options, .flags = OPTIONAL },
    { 0 },
};
static const struct schema data_schema = { .size = sizeof(struct helper_data),
                                           .fields = data_fields };
static const struct type type_data = { .kind = KIND_OBJECT, .schema = &data_schema };
static const struct field question_fields[] = {
    { FIELD(struct helper_question, id), .type = &type_id },
    { FIELD(struct helper_question, application_id), .type = &type_id },
    { FIELD(struct helper_question, type), .type = &type_int },
    { FIELD(struct helper_question, token), .type = &type_text },
    { FIELD(struct helper_question, data), .type = &type_data, .flags = OPTIONAL },
    { 0 },
};
static const struct schema question_schema = { .size = sizeof(struct helper_question),
                                               .fields = question_fields };
static const struct type type_question = { .kind = KIND_OBJECT, .schema = &question_schema };

/* Returns the JSON of an option of the command or its subcommand, or "". */
static struct str option_value(const struct opt_list *options, const char *name)
{
    const struct helper_option *o = options->value.items;

    for (size_t i = 0; i < options->value.count; i++) {
        if (str_is(o[i].name, name) && o[i].value.given == GIVEN)
            return o[i].value.value;
        if (o[i].options.given == GIVEN)
            return option_value(&o[i].options, name);
    }
    return STR("");
}

static int64_t option_number(const struct opt_list *options, const char *name, int64_t otherwise)
{
    int64_t number;

    return str_to_i64(option_value(options, name), &number) ? number : otherwise;
}

/* --- replies -------------------------------------------------------------------------- */

static void add_roll(struct buf *text, int64_t sides, int64_t dice)
{
    int64_t sum = 0;

    if (sides < 2 || sides > 1000)
        sides = 6;
    if (dice < 1 || dice > 10)
        dice = 1;
    buf_printf(text, "Rolled ");
    for (int64_t i = 0; i < dice; i++) {
        int64_t eyes = 1 + (int64_t)randombytes_uniform((uint32_t)sides);

        sum += eyes;
        buf_printf(text, "%s%" PRId64, i ? " + " : "", eyes);
    }
    if (dice > 1)
        buf_printf(text, " = %" PRId64, sum);
    buf_printf(text, " (of %" PRId64 " sides)", sides);
}

static void write_message(struct json *j, int64_t type, struct str content, bool secret,
                          const char *button)
{
    json_object(j);
    json_name(j, "type");
    json_int(j, type);
    json_name(j, "data");
    json_object(j);
    json_name(j, "content");
    json_text(j, content);
    if (secret) {
        json_name(j, "flags");
        json_int(j, EPHEMERAL);
    }
    if (button) {
        json_name(j, "components");
        json_raw(j, str_of(button));
    }
    json_object_end(j);
    json_object_end(j);
}

static void answer_roll(struct json *j, int64_t type, int64_t sides, int64_t dice, bool secret)
{
    char button[200];
    struct buf text;

    buf_init(&text, MOST_ANSWER);
    add_roll(&text, sides, dice);
    snprintf(button, sizeof button,
             "[{\"type\":1,\"components\":[{\"type\":2,\"style\":1,\"label\":\"again\","
             "\"custom_id\":\"roll:%" PRId64 ":%" PRId64 "\"}]}]",
             sides, dice);
    write_message(j, type, buf_str(&text), secret, button);
    buf_clear(&text);
}

static void answer_command(struct json *j, const struct helper_data *d, struct arena *arena)
{
    struct str name = d->name.value;

    if (str_is(name, "roll"))
        answer_roll(j, SAY, option_number(&d->options, "sides", 6),
                    option_number(&d->options, "dice", 1),
                    str_is(option_value(&d->options, "secret"), "true"));
    else if (str_is(name, "ask"))
        write_message(j, SAY, STR("Ada runs the workshop; ask her, she knows everything."), false,
                      NULL);
    else if (str_is(name, "tool"))
        write_message(j, SAY, STR("The hammer is here, the saw is with Bob."), false, NULL);
    else if (str_is(name, "tidy"))
        write_message(j, SAY, STR("Tidy up, everybody!"), false, NULL);
    else if (str_is(name, "Say hello"))
        write_message(j, SAY, STR("Hello!"), false, NULL);
    else
        write_message(j, SAY, STR_CONCAT(arena, STR("Done: "), name), true, NULL);
}

/* Replies to a button with the id "roll:SIDES:DICE". */
static void answer_press(struct json *j, struct str id)
{
    int64_t sides = 6, dice = 1;

    str_cut(&id, ':');
    str_to_i64(str_cut(&id, ':'), &sides);
    str_to_i64(id, &dice);
    answer_roll(j, CHANGE, sides, dice, false);
}

static void answer_completion(struct json *j)
{
    static const char *const questions[] = { "Where is the hammer?", "When is it open?" };

    json_object(j);
    json_name(j, "type");
    json_int(j, CHOICES);
    json_name(j, "data");
    json_object(j);
    json_name(j, "choices");
    json_array(j);
    for (size_t i = 0; i < COUNT_OF(questions); i++) {
        json_object(j);
        json_name(j, "name");
        json_text(j, str_of(questions[i]));
        json_name(j, "value");
        json_text(j, str_of(questions[i]));
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
    json_object_end(j);
}

/* --- client --------------------------------------------------------------------------- */

static size_t count_own_sessions(const struct helper_bot *b, snowflake bot)
{
    char start[64];
    struct buf out;
    size_t count = 0;

    snprintf(start, sizeof start, "{\"user_id\":\"%" PRIu64 "\"", bot);
    buf_init(&out, SIZE_MAX);
    if (control_ask(b->config->data, "operate sessions", &out) == OK)
        for (struct str rest = buf_str(&out); rest.n;) {
            struct str line = str_cut(&rest, '\n');

            count += str_starts(line, str_of(start)) &&
                     memmem(line.p, line.n, "\"connected\":true", 16) != NULL;
        }
    buf_clear(&out);
    return count;
}

static void helper_answer(const struct helper_bot *b, struct wire *w, struct arena *arena,
                          struct str json)
{
    static const struct helper_data nothing;
    struct form form = { .arena = arena };
    struct wire_answer a;
    struct buf body;
    void *read;

    if (schema_decode(&type_question, json, &form, &read))
        return;
    const struct helper_question *q = read;
    const struct helper_data *d = q->data.value ? q->data.value : &nothing;
    /* In the demo, the application and its bot have the same id. */
    if (count_own_sessions(b, q->application_id) > 1)
        return;
    buf_init(&body, MOST_ANSWER);
    struct json j = json_to(&body);
    if (q->type == COMMAND)
        answer_command(&j, d, arena);
    else if (q->type == PRESS)
        answer_press(&j, d->custom_id.value);
    else if (q->type == COMPLETE)
        answer_completion(&j);
    struct str path =
        str_printf(arena, "/interactions/%" PRIu64 "/%.*s/callback", q->id, STR_FMT(q->token));
    if (body.n)
        wire_call(w, "POST", str_dupz(arena, path), buf_str(&body), NULL, 0, &a);
    buf_clear(&body);
}

static void helper_session(const struct helper_bot *b)
{
    struct arena *arena = arena_new();
    struct wire *w = wire_new(b->url, arena);
    struct wire_event e;

    if (w) {
        wire_hush(w);
        wire_trust_server_of(w, b->config->data);
        wire_set_token(w, str_dupz(arena, str_printf(arena, "Bot %s", b->token)));
        bool there = wire_connect(w);
        while (there && !b->stopping) {
            enum wire_news news = wire_next(w, clock_mono() + INT64_C(1000000000), &e);

            if (news == WIRE_EVENT && str_is(e.name, "INTERACTION_CREATE"))
                helper_answer(b, w, arena, e.data);
            there = news != WIRE_LOST;
        }
    }
    wire_free(w);
    arena_free(arena);
}

static void *helper_run(void *arg)
{
    const struct helper_bot *b = arg;

    while (!b->stopping) {
        helper_session(b);
        if (!b->stopping)
            usleep(PAUSE_US);
    }
    return NULL;
}

struct helper_bot *helper_bot_start(const struct config *config, const char *url, const char *token)
{
    struct helper_bot *b = mem_new(sizeof *b);

    b->config = config;
    b->url = mem_dupz(url);
    b->token = mem_dupz(token);
    if (pthread_create(&b->thread, NULL, helper_run, b) == 0)
        return b;
    mem_free(b->url);
    mem_free(b->token);
    mem_free(b);
    return NULL;
}

void helper_bot_stop(struct helper_bot *b)
{
    if (!b)
        return;
    b->stopping = true;
    pthread_join(b->thread, NULL);
    mem_free(b->url);
    mem_free(b->token);
    mem_free(b);
}
