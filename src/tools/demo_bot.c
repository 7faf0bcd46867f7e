/* demo_bot.c - the bot of the demo, which responds to the demo's commands. */
#include "tools/demo_bot.h"

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
#include "tools/wire/api_client.h"

enum {
    DEMO_INTERACTION_COMMAND = 2,
    DEMO_INTERACTION_COMPONENT = 3,
    DEMO_INTERACTION_AUTOCOMPLETE = 4
}; /* interaction types */
enum {
    DEMO_CALLBACK_MESSAGE = 4,
    DEMO_CALLBACK_UPDATE_MESSAGE = 7,
    DEMO_CALLBACK_AUTOCOMPLETE = 8,
    FLAG_EPHEMERAL = 64
}; /* callback types; message flag */
enum { RECONNECT_DELAY_US = 200 * 1000, MAX_REPLY_BYTES = 16 * 1024 };

struct demo_bot {
    const struct config *config;
    char *url, *token;
    _Atomic bool stopping;
    pthread_t thread;
};

/* --- interactions --------------------------------------------------------------------- */

struct demo_option {
    struct str name;
    struct opt_str value;    /* JSON */
    struct opt_list options; /* struct demo_option */
};
struct demo_interaction_data {
    struct opt_str name, custom_id;
    struct opt_list options;
};
struct demo_interaction {
    snowflake id, application_id;
    int64_t type;
    struct str token;
    struct opt_object data; /* struct demo_interaction_data */
};

static const struct schema option_schema;
static const struct type type_option = { .kind = KIND_OBJECT, .schema = &option_schema };
static const struct type type_options = { .kind = KIND_ARRAY, .max = 25, .of = &type_option };
static const struct field option_fields[] = {
    { FIELD(struct demo_option, name), .type = &type_text },
    { FIELD(struct demo_option, value), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct demo_option, options), .type = &type_options, .flags = OPTIONAL },
    { 0 },
};
static const struct schema option_schema = { .size = sizeof(struct demo_option),
                                             .fields = option_fields };
static const struct field data_fields[] = {
    { FIELD(struct demo_interaction_data, name), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct demo_interaction_data, custom_id), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct demo_interaction_data, options), .type = &type_options, .flags = OPTIONAL },
    { 0 },
};
static const struct schema data_schema = { .size = sizeof(struct demo_interaction_data),
                                           .fields = data_fields };
static const struct type type_data = { .kind = KIND_OBJECT, .schema = &data_schema };
static const struct field interaction_fields[] = {
    { FIELD(struct demo_interaction, id), .type = &type_id },
    { FIELD(struct demo_interaction, application_id), .type = &type_id },
    { FIELD(struct demo_interaction, type), .type = &type_int },
    { FIELD(struct demo_interaction, token), .type = &type_text },
    { FIELD(struct demo_interaction, data), .type = &type_data, .flags = OPTIONAL },
    { 0 },
};
static const struct schema interaction_schema = { .size = sizeof(struct demo_interaction),
                                                  .fields = interaction_fields };
static const struct type type_interaction = { .kind = KIND_OBJECT, .schema = &interaction_schema };

/* Returns the value of an option of the command or of its sub-command, as JSON. Returns "" if the
 * option is absent. */
static struct str find_option_value(const struct opt_list *options, const char *name)
{
    const struct demo_option *o = options->value.items;

    for (size_t i = 0; i < options->value.count; i++) {
        if (str_is(o[i].name, name) && o[i].value.given == GIVEN)
            return o[i].value.value;
        if (o[i].options.given == GIVEN)
            return find_option_value(&o[i].options, name);
    }
    return STR("");
}

static int64_t find_option_number(const struct opt_list *options, const char *name,
                                  int64_t otherwise)
{
    int64_t number;

    return str_to_i64(find_option_value(options, name), &number) ? number : otherwise;
}

/* --- replies -------------------------------------------------------------------------- */

static void append_dice_roll(struct buf *text, int64_t sides, int64_t dice)
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

static void write_message_json(struct json_writer *j, int64_t type, struct str content, bool secret,
                               const char *button)
{
    json_begin_object(j);
    json_write_name(j, "type");
    json_write_int(j, type);
    json_write_name(j, "data");
    json_begin_object(j);
    json_write_name(j, "content");
    json_write_text(j, content);
    if (secret) {
        json_write_name(j, "flags");
        json_write_int(j, FLAG_EPHEMERAL);
    }
    if (button) {
        json_write_name(j, "components");
        json_write_raw(j, str_of(button));
    }
    json_end_object(j);
    json_end_object(j);
}

static void write_dice_roll_reply_json(struct json_writer *j, int64_t type, int64_t sides,
                                       int64_t dice, bool secret)
{
    char button[200];
    struct buf text;

    buf_init(&text, MAX_REPLY_BYTES);
    append_dice_roll(&text, sides, dice);
    snprintf(button, sizeof button,
             "[{\"type\":1,\"components\":[{\"type\":2,\"style\":1,\"label\":\"again\","
             "\"custom_id\":\"roll:%" PRId64 ":%" PRId64 "\"}]}]",
             sides, dice);
    write_message_json(j, type, buf_as_str(&text), secret, button);
    buf_clear(&text);
}

static void write_command_reply_json(struct json_writer *j, const struct demo_interaction_data *d,
                                     struct arena *arena)
{
    struct str name = d->name.value;

    if (str_is(name, "roll"))
        write_dice_roll_reply_json(j, DEMO_CALLBACK_MESSAGE,
                                   find_option_number(&d->options, "sides", 6),
                                   find_option_number(&d->options, "dice", 1),
                                   str_is(find_option_value(&d->options, "secret"), "true"));
    else if (str_is(name, "ask"))
        write_message_json(j, DEMO_CALLBACK_MESSAGE,
                           STR("Ada runs the workshop; ask her, she knows everything."), false,
                           NULL);
    else if (str_is(name, "tool"))
        write_message_json(j, DEMO_CALLBACK_MESSAGE,
                           STR("The hammer is here, the saw is with Bob."), false, NULL);
    else if (str_is(name, "tidy"))
        write_message_json(j, DEMO_CALLBACK_MESSAGE, STR("Tidy up, everybody!"), false, NULL);
    else if (str_is(name, "Say hello"))
        write_message_json(j, DEMO_CALLBACK_MESSAGE, STR("Hello!"), false, NULL);
    else
        write_message_json(j, DEMO_CALLBACK_MESSAGE, STR_CONCAT(arena, STR("Done: "), name), true,
                           NULL);
}

/* Replies to a button with the id "roll:SIDES:DICE". */
static void write_button_reply_json(struct json_writer *j, struct str id)
{
    int64_t sides = 6, dice = 1;

    str_cut(&id, ':');
    str_to_i64(str_cut(&id, ':'), &sides);
    str_to_i64(id, &dice);
    write_dice_roll_reply_json(j, DEMO_CALLBACK_UPDATE_MESSAGE, sides, dice, false);
}

static void write_autocomplete_json(struct json_writer *j)
{
    static const char *const prompts[] = { "Where is the hammer?", "When is it open?" };

    json_begin_object(j);
    json_write_name(j, "type");
    json_write_int(j, DEMO_CALLBACK_AUTOCOMPLETE);
    json_write_name(j, "data");
    json_begin_object(j);
    json_write_name(j, "choices");
    json_begin_array(j);
    for (size_t i = 0; i < COUNT_OF(prompts); i++) {
        json_begin_object(j);
        json_write_name(j, "name");
        json_write_text(j, str_of(prompts[i]));
        json_write_name(j, "value");
        json_write_text(j, str_of(prompts[i]));
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
    json_end_object(j);
}

/* --- client --------------------------------------------------------------------------- */

static size_t count_bot_sessions(const struct demo_bot *b, snowflake bot)
{
    char start[64];
    struct buf out;
    size_t count = 0;

    snprintf(start, sizeof start, "{\"user_id\":\"%" PRIu64 "\"", bot);
    buf_init(&out, SIZE_MAX);
    if (control_socket_send_request(b->config->data, "operate sessions", &out) == OK)
        for (struct str rest = buf_as_str(&out); rest.n;) {
            struct str line = str_cut(&rest, '\n');

            count += str_starts_with(line, str_of(start)) &&
                     memmem(line.p, line.n, "\"connected\":true", 16) != NULL;
        }
    buf_clear(&out);
    return count;
}

static void reply_to_interaction(const struct demo_bot *b, struct api_client *w,
                                 struct arena *arena, struct str json)
{
    static const struct demo_interaction_data nothing;
    struct form form = { .arena = arena };
    struct api_client_response a;
    struct buf body;
    void *read;

    if (schema_decode(&type_interaction, json, &form, &read))
        return;
    const struct demo_interaction *q = read;
    const struct demo_interaction_data *d = q->data.value ? q->data.value : &nothing;
    /* Do not respond, because another session of the bot responds. In the demo, application and bot
     * have the same id. */
    if (count_bot_sessions(b, q->application_id) > 1)
        return;
    buf_init(&body, MAX_REPLY_BYTES);
    struct json_writer j = json_writer_to_buf(&body);
    if (q->type == DEMO_INTERACTION_COMMAND)
        write_command_reply_json(&j, d, arena);
    else if (q->type == DEMO_INTERACTION_COMPONENT)
        write_button_reply_json(&j, d->custom_id.value);
    else if (q->type == DEMO_INTERACTION_AUTOCOMPLETE)
        write_autocomplete_json(&j);
    struct str path =
        str_printf(arena, "/interactions/%" PRIu64 "/%.*s/callback", q->id, STR_ARGS(q->token));
    if (body.n)
        api_client_request(w, "POST", str_dup_cstring(arena, path), buf_as_str(&body), NULL, 0, &a);
    buf_clear(&body);
}

static void run_bot_session(const struct demo_bot *b)
{
    struct arena *arena = arena_new();
    struct api_client *w = api_client_new(b->url, arena);
    struct api_client_event e;

    if (w) {
        api_client_silence_errors(w);
        api_client_trust_only_server_of_folder(w, b->config->data);
        api_client_set_token(w, str_dup_cstring(arena, str_printf(arena, "Bot %s", b->token)));
        bool there = api_client_connect_gateway(w);
        while (there && !b->stopping) {
            enum api_client_event_result result =
                api_client_wait_for_event(w, clock_monotonic_ns() + INT64_C(1000000000), &e);

            if (result == CLIENT_EVENT && str_is(e.name, "INTERACTION_CREATE"))
                reply_to_interaction(b, w, arena, e.data);
            there = result != CLIENT_CONNECTION_LOST;
        }
    }
    api_client_free(w);
    arena_free(arena);
}

static void *run_bot_thread(void *arg)
{
    const struct demo_bot *b = arg;

    while (!b->stopping) {
        run_bot_session(b);
        if (!b->stopping)
            usleep(RECONNECT_DELAY_US);
    }
    return NULL;
}

struct demo_bot *demo_bot_start(const struct config *config, const char *url, const char *token)
{
    struct demo_bot *b = mem_new(sizeof *b);

    b->config = config;
    b->url = mem_dup_cstring(url);
    b->token = mem_dup_cstring(token);
    if (pthread_create(&b->thread, NULL, run_bot_thread, b) == 0)
        return b;
    mem_free(b->url);
    mem_free(b->token);
    mem_free(b);
    return NULL;
}

void demo_bot_stop(struct demo_bot *b)
{
    if (!b)
        return;
    b->stopping = true;
    pthread_join(b->thread, NULL);
    mem_free(b->url);
    mem_free(b->token);
    mem_free(b);
}
