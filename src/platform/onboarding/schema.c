/* schema.c - JSON schemas of onboarding prompts and answers. */
#include "platform/onboarding/internal.h"

static const struct enum_choice prompt_types[] = {
    { 0, NULL, "MULTIPLE_CHOICE", "Options to choose from" },
    { 1, NULL, "DROPDOWN", "Options in a dropdown list" },
    { 0 },
};
static const struct enum_choice modes[] = {
    { ONBOARDING_DEFAULT, NULL, "DEFAULT", "Default channels count" },
    { ONBOARDING_ADVANCED, NULL, "ADVANCED", "Channels of options count too" },
    { 0 },
};
static const struct type type_prompt_type = { .kind = KIND_INT, .choices = prompt_types };
static const struct type type_mode = { .kind = KIND_INT, .choices = modes };
static const struct type type_prompt_title = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_option_title = { .kind = KIND_STRING, .min = 1, .max = 50 };
static const struct type type_option_text = { .kind = KIND_STRING, .max = 100 };
static const struct type type_option_ids = { .kind = KIND_ARRAY,
                                             .of = &type_id,
                                             .max = MAX_OPTION_IDS };
static const struct type type_default_channels = { .kind = KIND_ARRAY,
                                                   .of = &type_id,
                                                   .max = MAX_DEFAULT_CHANNELS };
#define MAYBE (OPTIONAL | NULLABLE)

/* --- response ------------------------------------------------------------------------- */

static const struct field emoji_fields[] = {
    { FIELD(struct onboarding_option_emoji, id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct onboarding_option_emoji, name), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct onboarding_option_emoji, animated), .type = &type_bool },
    { 0 },
};
static const struct schema option_emoji_schema = {
    .name = "OnboardingEmoji",
    .size = sizeof(struct onboarding_option_emoji),
    .fields = emoji_fields,
    .doc = "The emoji of an option; both null: none.",
};
static const struct type type_option_emoji = { .kind = KIND_OBJECT,
                                               .schema = &option_emoji_schema };

static const struct field option_fields[] = {
    { FIELD(struct onboarding_option, id), .type = &type_id },
    { FIELD(struct onboarding_option, title), .type = &type_option_title },
    { FIELD(struct onboarding_option, description), .type = &type_option_text },
    { FIELD(struct onboarding_option, emoji), .type = &type_option_emoji },
    { FIELD(struct onboarding_option, role_ids), .type = &type_option_ids },
    { FIELD(struct onboarding_option, channel_ids), .type = &type_option_ids },
    { 0 },
};
static const struct schema option_schema = {
    .name = "OnboardingOption",
    .size = sizeof(struct onboarding_option),
    .fields = option_fields,
    .doc = "An option of an onboarding prompt.",
};
static const struct type type_option = { .kind = KIND_OBJECT, .schema = &option_schema };
const struct type type_onboarding_options = {
    .kind = KIND_ARRAY, .of = &type_option, .min = 1, .max = MAX_OPTIONS
};

/* clang-format off */
#define PROMPT_FIELDS(options_, optional_)                                                         \
    { FIELD(struct onboarding_prompt, id), .type = &type_id },                                     \
    { FIELD(struct onboarding_prompt, type), .type = &type_prompt_type, .flags = (optional_) },    \
    { FIELD(struct onboarding_prompt, title), .type = &type_prompt_title },                        \
    { FIELD(struct onboarding_prompt, options), .type = &(options_) },                             \
    { FIELD(struct onboarding_prompt, single_select), .type = &type_bool, .flags = (optional_) },  \
    { FIELD(struct onboarding_prompt, required), .type = &type_bool, .flags = (optional_) },       \
    { FIELD(struct onboarding_prompt, in_onboarding), .type = &type_bool, .flags = (optional_) }
/* clang-format on */

static const struct field prompt_fields[] = { PROMPT_FIELDS(type_onboarding_options, 0), { 0 } };
static const struct schema prompt_schema = {
    .name = "OnboardingPrompt",
    .size = sizeof(struct onboarding_prompt),
    .fields = prompt_fields,
    .doc = "A prompt for new members.",
};
const struct type type_onboarding_prompt = { .kind = KIND_OBJECT, .schema = &prompt_schema };
const struct type type_onboarding_prompts = { .kind = KIND_ARRAY,
                                              .of = &type_onboarding_prompt,
                                              .max = MAX_PROMPTS };

static const struct field onboarding_fields[] = {
    { FIELD(struct onboarding, guild_id), .type = &type_id },
    { FIELD(struct onboarding, prompts), .type = &type_onboarding_prompts },
    { FIELD(struct onboarding, default_channel_ids), .type = &type_default_channels },
    { FIELD(struct onboarding, enabled), .type = &type_bool },
    { FIELD(struct onboarding, mode), .type = &type_mode },
    { 0 },
};
static const struct schema onboarding_schema = {
    .name = "Onboarding",
    .size = sizeof(struct onboarding),
    .fields = onboarding_fields,
    .doc = "Onboarding of a guild: prompts and default channels.",
};
const struct type type_onboarding = { .kind = KIND_OBJECT, .schema = &onboarding_schema };

/* --- request -------------------------------------------------------------------------- */

static const struct field option_draft_fields[] = {
    { FIELD_AS(struct onboarding_option, given_id, "id"), .type = &type_id, .flags = MAYBE,
      .doc = "Id of an existing option; other ids are new options" },
    { FIELD(struct onboarding_option, title), .type = &type_option_title },
    { FIELD_AS(struct onboarding_option, given_description, "description"),
      .type = &type_option_text, .flags = MAYBE },
    { FIELD(struct onboarding_option, emoji_id), .type = &type_id, .flags = MAYBE,
      .doc = "An emoji of the guild" },
    { FIELD(struct onboarding_option, emoji_name), .type = &type_text, .flags = MAYBE,
      .doc = "A Unicode emoji, if there is no emoji_id" },
    { FIELD(struct onboarding_option, emoji_animated), .type = &type_bool, .flags = MAYBE },
    { FIELD(struct onboarding_option, role_ids), .type = &type_option_ids, .flags = MAYBE },
    { FIELD(struct onboarding_option, channel_ids), .type = &type_option_ids, .flags = MAYBE },
    { 0 },
};
static const struct schema option_draft_schema = {
    .name = "OnboardingOptionDraft",
    .size = sizeof(struct onboarding_option),
    .fields = option_draft_fields,
    .doc = "An option of an onboarding prompt, with its roles and channels.",
};
static const struct type type_option_draft = { .kind = KIND_OBJECT,
                                               .schema = &option_draft_schema };
static const struct type type_option_drafts = {
    .kind = KIND_ARRAY, .of = &type_option_draft, .min = 1, .max = MAX_OPTIONS
};
static const struct field prompt_draft_fields[] = { PROMPT_FIELDS(type_option_drafts, OPTIONAL),
                                                    { 0 } };
static const struct schema prompt_draft_schema = {
    .name = "OnboardingPromptDraft",
    .size = sizeof(struct onboarding_prompt),
    .fields = prompt_draft_fields,
    .doc = "A prompt for new members; an unknown id makes a new prompt.",
};
static const struct type type_prompt_draft = { .kind = KIND_OBJECT,
                                               .schema = &prompt_draft_schema };
static const struct type type_prompt_drafts = { .kind = KIND_ARRAY,
                                                .of = &type_prompt_draft,
                                                .max = MAX_PROMPTS };

static const struct field change_fields[] = {
    { FIELD(struct onboarding_put_body, prompts), .type = &type_prompt_drafts, .flags = OPTIONAL },
    { FIELD(struct onboarding_put_body, default_channel_ids), .type = &type_default_channels,
      .flags = OPTIONAL },
    { FIELD(struct onboarding_put_body, enabled), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct onboarding_put_body, mode), .type = &type_mode, .flags = OPTIONAL },
    { 0 },
};
static const struct schema change_schema = {
    .name = "OnboardingChange",
    .size = sizeof(struct onboarding_put_body),
    .fields = change_fields,
    .doc = "Changes of the onboarding; lists replace the existing ones.",
};
const struct type onboarding_body = { .kind = KIND_OBJECT, .schema = &change_schema };

/* --- answers -------------------------------------------------------------------------- */

static const struct type type_chosen = { .kind = KIND_ARRAY,
                                         .of = &type_id,
                                         .max = MAX_PROMPTS * MAX_OPTIONS };
const struct type type_seen = { .kind = KIND_MAP,
                                .of = &type_int,
                                .flags = TYPE_NULL_NONE,
                                .max = MAX_PROMPTS * MAX_OPTIONS,
                                .doc = "Time of viewing in milliseconds, by id" };
static const struct field answers_fields[] = {
    { FIELD(struct onboarding_answers, onboarding_responses), .type = &type_chosen,
      .doc = "Options" },
    { FIELD(struct onboarding_answers, onboarding_prompts_seen), .type = &type_seen,
      .flags = OPTIONAL },
    { FIELD(struct onboarding_answers, onboarding_responses_seen), .type = &type_seen,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema answers_schema = {
    .name = "OnboardingAnswersDraft",
    .size = sizeof(struct onboarding_answers),
    .fields = answers_fields,
    .doc = "Chosen options of a new member.",
};
const struct type onboarding_answers_body = { .kind = KIND_OBJECT, .schema = &answers_schema };

static const struct field answered_fields[] = {
    { FIELD(struct onboarding_answers, guild_id), .type = &type_id },
    { FIELD(struct onboarding_answers, user_id), .type = &type_id },
    { FIELD(struct onboarding_answers, onboarding_responses), .type = &type_chosen },
    { FIELD(struct onboarding_answers, onboarding_prompts_seen), .type = &type_seen },
    { FIELD(struct onboarding_answers, onboarding_responses_seen), .type = &type_seen },
    { 0 },
};
static const struct schema answered_schema = {
    .name = "OnboardingAnswers",
    .size = sizeof(struct onboarding_answers),
    .fields = answered_fields,
    .doc = "Chosen options of a new member, as stored.",
};
const struct type onboarding_answers_reply = { .kind = KIND_OBJECT, .schema = &answered_schema };
