/* poll.c - JSON schemas of polls and their events. */
#include "model/poll.h"

#include "model/fields/types.h"

static const struct field media_fields[] = {
    { FIELD(struct poll_media, text), .type = &type_text, .flags = OPTIONAL },
    { FIELD(struct poll_media, emoji), .type = &type_reaction_emoji, .flags = OPTIONAL },
    { 0 },
};
static const struct schema media_schema = {
    .name = "PollMedia",
    .size = sizeof(struct poll_media),
    .fields = media_fields,
    .doc = "The question of a poll, or one of its answers.",
};
static const struct type type_media = { .kind = KIND_OBJECT, .schema = &media_schema };

static const struct field answer_fields[] = {
    { FIELD(struct poll_answer, answer_id), .type = &type_count },
    { FIELD(struct poll_answer, poll_media), .type = &type_media },
    { 0 },
};
static const struct schema answer_schema = {
    .name = "PollAnswer",
    .size = sizeof(struct poll_answer),
    .fields = answer_fields,
    .doc = "One of the answers of a poll.",
};
static const struct type type_answer = { .kind = KIND_OBJECT, .schema = &answer_schema };
const struct type type_poll_answers = { .kind = KIND_ARRAY, .of = &type_answer };

static const struct field count_fields[] = {
    { FIELD(struct poll_answer_count, id), .type = &type_count, .doc = "The answer" },
    { FIELD(struct poll_answer_count, count), .type = &type_count },
    { FIELD(struct poll_answer_count, me_voted), .type = &type_bool,
      .doc = "In events always false" },
    { 0 },
};
static const struct schema count_schema = {
    .name = "PollAnswerCount",
    .size = sizeof(struct poll_answer_count),
    .fields = count_fields,
    .doc = "The number of votes for an answer.",
};
static const struct type type_answer_count = { .kind = KIND_OBJECT, .schema = &count_schema };
static const struct type type_answer_counts = { .kind = KIND_ARRAY, .of = &type_answer_count };

static const struct field results_fields[] = {
    { FIELD(struct poll_results, is_finalized), .type = &type_bool },
    { FIELD(struct poll_results, answer_counts), .type = &type_answer_counts },
    { 0 },
};
static const struct schema results_schema = {
    .name = "PollResults",
    .size = sizeof(struct poll_results),
    .fields = results_fields,
    .doc = "The votes of a poll so far, or its final result.",
};
static const struct type type_results = { .kind = KIND_OBJECT, .schema = &results_schema };

static const struct field poll_fields[] = {
    { FIELD(struct poll, question), .type = &type_media },
    { FIELD(struct poll, answers), .type = &type_poll_answers },
    { FIELD(struct poll, expiry), .type = &type_time },
    { FIELD(struct poll, allow_multiselect), .type = &type_bool },
    { FIELD(struct poll, layout_type), .type = &type_count },
    { FIELD(struct poll, results), .type = &type_results },
    { 0 },
};
static const struct schema poll_schema = {
    .name = "Poll",
    .size = sizeof(struct poll),
    .fields = poll_fields,
    .doc = "A question with answers to choose from.",
};
const struct type type_poll = { .kind = KIND_OBJECT, .schema = &poll_schema };

static const struct field vote_fields[] = {
    { FIELD(struct poll_vote_event, user_id), .type = &type_id },
    { FIELD(struct poll_vote_event, channel_id), .type = &type_id },
    { FIELD(struct poll_vote_event, message_id), .type = &type_id },
    { FIELD(struct poll_vote_event, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct poll_vote_event, answer_id), .type = &type_count },
    { 0 },
};
const struct schema poll_vote_schema = {
    .name = "PollVote",
    .size = sizeof(struct poll_vote_event),
    .fields = vote_fields,
    .doc = "A user voted in a poll, or removed a vote.",
};
