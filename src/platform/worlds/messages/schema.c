/* schema.c - messages of world files, row by row. */
#include "platform/worlds/messages/messages.h"

#include "base/clock.h"

static const struct field reaction_fields[] = {
    MUST(struct world_reaction, emoji, type_world_name),
    MUST(struct world_reaction, users, type_world_refs),
    { 0 },
};
static const struct schema reaction_rows = { .size = sizeof(struct world_reaction),
                                             .fields = reaction_fields };
static const struct type reaction_entry = { .kind = KIND_OBJECT, .schema = &reaction_rows };
static const struct type most_reactions = { .kind = KIND_ARRAY, .max = 20, .of = &reaction_entry };

static const struct field poll_answer_fields[] = {
    MUST(struct world_poll_answer, text, type_world_name),
    MAYBE(struct world_poll_answer, emoji, type_world_name),
    MAYBE(struct world_poll_answer, users, type_world_refs),
    { 0 },
};
static const struct schema poll_answer_rows = { .size = sizeof(struct world_poll_answer),
                                                .fields = poll_answer_fields };
static const struct type poll_answer_entry = { .kind = KIND_OBJECT, .schema = &poll_answer_rows };
static const struct type most_answers = {
    .kind = KIND_ARRAY, .min = 1, .max = 10, .of = &poll_answer_entry
};
static const struct field poll_fields[] = {
    MUST(struct world_poll, question, type_world_content),
    MUST(struct world_poll, answers, most_answers),
    MAYBE(struct world_poll, hours, type_count),
    MAYBE(struct world_poll, ends_at, type_time),
    MAYBE(struct world_poll, allow_multiselect, type_bool),
    { 0 },
};
static const struct schema poll_rows = { .size = sizeof(struct world_poll), .fields = poll_fields };
static const struct type poll_entry = { .kind = KIND_OBJECT, .schema = &poll_rows };

static const struct field message_fields[] = {
    MAYBE(struct world_message, id, type_id),
    MAYBE(struct world_message, author, type_world_ref),
    MAYBE(struct world_message, webhook, type_world_ref),
    MAYBE(struct world_message, username, type_world_name),
    MAYBE(struct world_message, avatar_url, type_long_url),
    MUST(struct world_message, content, type_world_content),
    MAYBE(struct world_message, at, type_time),
    MAYBE(struct world_message, minutes_ago, type_count),
    MAYBE(struct world_message, edited_at, type_time),
    MAYBE(struct world_message, embeds, type_raw),
    MAYBE(struct world_message, pinned, type_bool),
    MAYBE(struct world_message, reactions, most_reactions),
    MAYBE(struct world_message, poll, poll_entry),
    MAYBE(struct world_message, stickers, type_world_refs),
    MAYBE(struct world_message, forward, world_forward_type),
    { 0 },
};

/* A message without an id gets one of its moment, if there are such ids. */
static void check_moment(struct form *form, const struct place *here, const struct world_message *m)
{
    bool said = m->at.given == GIVEN;
    struct place at = place_key(here, said ? STR("at") : STR("minutes_ago"));
    int64_t last = SNOWFLAKE_EPOCH_MS + (INT64_MAX >> 22);
    int64_t most = (clock_ms() - SNOWFLAKE_EPOCH_MS) / 60000;

    if (said ? m->at.value / 1000 < SNOWFLAKE_EPOCH_MS || m->at.value / 1000 > last
             : m->minutes_ago.value > most)
        form_fail(form, &at, "WORLD_NO_ID", "There are no ids of this moment.");
}

static void check_message(struct form *form, const struct place *here, const void *object)
{
    const struct world_message *m = object;

    if ((m->author.given == GIVEN) == (m->webhook.given == GIVEN)) {
        struct place at = place_key(here, STR("author"));

        form_fail(form, &at, "WORLD_ONE_OF", "A message is by an author or by a webhook.");
    }
    if (m->id.given != GIVEN)
        check_moment(form, here, m);
    world_check_json(form, here, "embeds", &m->embeds, JSON_ARRAY, JSON_OBJECT);
}

WORLD_OBJECT(message, message_fields, check_message);

static const struct field private_fields[] = {
    MAYBE(struct world_private, id, type_id),
    MAYBE(struct world_private, name, type_world_name),
    MAYBE(struct world_private, owner, type_world_ref),
    MAYBE(struct world_private, people, type_world_refs),
    MAYBE(struct world_private, messages, world_message_list),
    { 0 },
};

WORLD_OBJECT(private, private_fields, NULL);
