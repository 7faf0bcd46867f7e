/* body.c - JSON schema of a poll in a request, and the conversion to a struct poll. */
#include "platform/polls/polls.h"

#include "base/clock.h"
#include "base/emoji.h"
#include "model/fields/types.h"

struct poll_draft_emoji {
    struct opt_id id;
    struct opt_str name;
};
struct poll_draft_media {
    struct str text;
    struct opt_object emoji; /* struct poll_draft_emoji */
};
struct poll_draft_answer {
    struct poll_draft_media *poll_media;
};
struct poll_request {
    struct poll_draft_media *question;
    struct list answers; /* struct poll_draft_answer */
    int64_t duration, layout_type;
    bool allow_multiselect;
};

#define HOUR_US INT64_C(3600000000)

static const struct field emoji_fields[] = {
    { FIELD(struct poll_draft_emoji, id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct poll_draft_emoji, name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema emoji_in_schema = {
    .name = "PollEmojiDraft",
    .size = sizeof(struct poll_draft_emoji),
    .fields = emoji_fields,
    .doc = "An emoji by its id, or the characters of Unicode.",
};
static const struct type type_emoji_in = { .kind = KIND_OBJECT, .schema = &emoji_in_schema };

static const struct type type_question_text = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 300
};
static const struct type type_answer_text = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = 55
};
static const struct field question_fields[] = {
    { FIELD(struct poll_draft_media, text), .type = &type_question_text },
    { 0 },
};
static const struct field media_fields[] = {
    { FIELD(struct poll_draft_media, text), .type = &type_answer_text },
    { FIELD(struct poll_draft_media, emoji), .type = &type_emoji_in, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema question_schema = {
    .name = "PollQuestionDraft",
    .size = sizeof(struct poll_draft_media),
    .fields = question_fields,
    .doc = "What is asked.",
};
static const struct schema media_schema = {
    .name = "PollMediaDraft",
    .size = sizeof(struct poll_draft_media),
    .fields = media_fields,
    .doc = "What an answer shows.",
};
static const struct type type_question = { .kind = KIND_OBJECT, .schema = &question_schema };
static const struct type type_media = { .kind = KIND_OBJECT, .schema = &media_schema };

static const struct field answer_fields[] = {
    { FIELD(struct poll_draft_answer, poll_media), .type = &type_media },
    { 0 },
};
static const struct schema answer_schema = {
    .name = "PollAnswerDraft",
    .size = sizeof(struct poll_draft_answer),
    .fields = answer_fields,
    .doc = "An answer to choose.",
};
static const struct type type_answer = { .kind = KIND_OBJECT, .schema = &answer_schema };
static const struct type type_answers = {
    .kind = KIND_ARRAY, .min = 1, .max = POLL_MAX_ANSWERS, .of = &type_answer
};

static const struct enum_choice layouts[] = {
    { 1, NULL, "DEFAULT", "A list" },
    { 0 },
};
static const struct type type_layout = { .kind = KIND_INT, .choices = layouts };
static const struct type type_hours = { .kind = KIND_INT, .min = 1, .max = 768, .doc = "Hours" };
static const struct field poll_fields[] = {
    { FIELD(struct poll_request, question), .type = &type_question },
    { FIELD(struct poll_request, answers), .type = &type_answers },
    { FIELD(struct poll_request, duration), .type = &type_hours, .flags = OPTIONAL,
      .fallback = 24 },
    { FIELD(struct poll_request, allow_multiselect), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct poll_request, layout_type), .type = &type_layout, .flags = OPTIONAL,
      .fallback = 1 },
    { 0 },
};
static const struct schema poll_in_schema = {
    .name = "PollDraft",
    .size = sizeof(struct poll_request),
    .fields = poll_fields,
    .doc = "A question under a new message.",
};
const struct type poll_body = { .kind = KIND_OBJECT, .schema = &poll_in_schema };

/* --- conversion ----------------------------------------------------------------------- */

static enum err poll_emoji_from_draft(struct call *call, const struct poll_draft_emoji *in,
                                      const struct emoji_use_context *who,
                                      const struct reaction_emoji **ret)
{
    struct reaction_emoji *out = arena_alloc(call->arena, sizeof *out);
    struct emoji emoji;

    *ret = out;
    if (in->id.given != GIVEN) {
        *out = (struct reaction_emoji){ { .given = GIVEN_NULL }, in->name.value, { 0 } };
        return in->name.given == GIVEN && is_emoji(in->name.value) ? OK : ERR_POLL_EMOJI;
    }
    enum err e = emoji_find_usable(call->tx, who, in->id.value, &emoji);
    if (!e)
        *out = (struct reaction_emoji){ opt_id_or_null(emoji.id), emoji.name,
                                        opt_true_or_absent(emoji.animated) };
    return e == ERR_UNKNOWN_EMOJI ? ERR_POLL_EMOJI : e;
}

static enum err poll_media_from_draft(struct call *call, const struct poll_draft_media *in,
                                      const struct emoji_use_context *who,
                                      const struct poll_media **ret)
{
    struct poll_media *media = arena_alloc(call->arena, sizeof *media);

    *media = (struct poll_media){ .text = opt_str_or_null(in->text) };
    *ret = media;
    return in->emoji.given == GIVEN
               ? poll_emoji_from_draft(call, in->emoji.value, who, &media->emoji)
               : OK;
}

enum err poll_from_request_body(struct call *call, const struct poll_request *in,
                                const struct emoji_use_context *who, struct poll **ret)
{
    const struct poll_draft_answer *answers = in->answers.items;
    struct poll_results *results = arena_alloc(call->arena, sizeof *results);
    struct poll *poll = arena_alloc(call->arena, sizeof *poll);
    enum err e = OK;

    *results = (struct poll_results){ 0 };
    *poll = (struct poll){
        .expiry = clock_us() + in->duration * HOUR_US,
        .allow_multiselect = in->allow_multiselect,
        .layout_type = in->layout_type,
        .results = results,
    };
    e = poll_media_from_draft(call, in->question, who, &poll->question);
    for (size_t i = 0; !e && i < in->answers.count; i++) {
        struct poll_answer *a = list_append(call->arena, &poll->answers, sizeof *a);
        struct poll_answer_count *c = list_append(call->arena, &results->answer_counts, sizeof *c);

        a->answer_id = (int64_t)i + 1;
        *c = (struct poll_answer_count){ .id = a->answer_id };
        e = poll_media_from_draft(call, answers[i].poll_media, who, &a->poll_media);
    }
    *ret = poll;
    return e;
}
