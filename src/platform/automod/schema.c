/* schema.c - JSON schemas of AutoMod rules and request bodies, and their validation. */
#include "platform/automod/internal.h"

#include "model/fields/types.h"

enum {
    MOST_KEYWORDS = 1000,
    MOST_PATTERNS = 10,
    MOST_ALLOWED = 100,
    LONGEST_TIMEOUT_S = 2419200, /* four weeks */
};

static const struct type type_keyword = { .kind = KIND_STRING, .min = 1, .max = 60 };
static const struct type type_pattern = { .kind = KIND_STRING,
                                          .min = 1,
                                          .max = 260,
                                          .doc = "A regular expression without back references "
                                                 "and lookaround; all patterns of a guild may "
                                                 "have at most 1,200 active states" };
static const struct type type_keywords = { .kind = KIND_ARRAY,
                                           .max = MOST_KEYWORDS,
                                           .of = &type_keyword };
static const struct type type_patterns = { .kind = KIND_ARRAY,
                                           .max = MOST_PATTERNS,
                                           .of = &type_pattern };
static const struct enum_choice presets[] = {
    { 1, NULL, "PROFANITY", "Words that are considered rude" },
    { 2, NULL, "SEXUAL_CONTENT", "Words of sexual content" },
    { 3, NULL, "SLURS", "Slurs" },
    { 0 },
};
static const struct type type_preset = { .kind = KIND_INT, .choices = presets };
static const struct type type_presets = { .kind = KIND_ARRAY, .max = 3, .of = &type_preset };
static const struct type type_mention_limit = { .kind = KIND_INT, .min = 0, .max = 50 };

static const struct enum_choice events[] = {
    { AUTOMOD_ON_MESSAGE, NULL, "MESSAGE_SEND", "A message is sent or edited" },
    { AUTOMOD_ON_PROFILE, NULL, "MEMBER_UPDATE", "A member joins or changes a name" },
    { 0 },
};
static const struct enum_choice triggers[] = {
    { AUTOMOD_KEYWORD, NULL, "KEYWORD", "Keywords and patterns of the guild" },
    { AUTOMOD_SPAM, NULL, "SPAM", "The same text for the fifth time within ten seconds" },
    { AUTOMOD_PRESET, NULL, "KEYWORD_PRESET", "Keyword lists of the server's configuration" },
    { AUTOMOD_MENTIONS, NULL, "MENTION_SPAM", "More mentions of users and roles than the limit" },
    { AUTOMOD_PROFILE, NULL, "MEMBER_PROFILE", "Keywords and patterns in names" },
    { 0 },
};
static const struct type type_event = { .kind = KIND_INT, .choices = events };
const struct type type_automod_trigger = { .kind = KIND_INT, .choices = triggers };

static const struct field metadata_fields[] = {
    { FIELD(struct automod_trigger_metadata, keyword_filter), .type = &type_keywords,
      .flags = OPTIONAL,
      .doc = "cat: the whole word; cat*, *cat: words that start or end with it; *cat*: anywhere" },
    { FIELD(struct automod_trigger_metadata, regex_patterns), .type = &type_patterns,
      .flags = OPTIONAL },
    { FIELD(struct automod_trigger_metadata, presets), .type = &type_presets, .flags = OPTIONAL },
    { FIELD(struct automod_trigger_metadata, allow_list), .type = &type_keywords, .flags = OPTIONAL,
      .doc = "Matches inside these texts do not count" },
    { FIELD(struct automod_trigger_metadata, mention_total_limit), .type = &type_mention_limit,
      .flags = OPTIONAL },
    { FIELD(struct automod_trigger_metadata, mention_raid_protection_enabled), .type = &type_bool,
      .flags = OPTIONAL,
      .doc = "Stored, without effect: this server does not detect mention raids" },
    { 0 },
};
static const struct schema metadata_schema = {
    .name = "AutoModerationMetadata",
    .size = sizeof(struct automod_trigger_metadata),
    .fields = metadata_fields,
    .doc = "The texts that a rule matches.",
};
const struct type type_automod_metadata = { .kind = KIND_OBJECT, .schema = &metadata_schema };

static const struct enum_choice actions[] = {
    { AUTOMOD_BLOCK, NULL, "BLOCK_MESSAGE", "The message is not sent" },
    { AUTOMOD_ALERT, NULL, "SEND_ALERT_MESSAGE", "An alert is posted in a channel" },
    { AUTOMOD_TIMEOUT, NULL, "TIMEOUT", "The author is timed out" },
    { AUTOMOD_QUARANTINE, NULL, "BLOCK_MEMBER_INTERACTION",
      "The member is quarantined until the name is changed" },
    { 0 },
};
static const struct type type_action_type = { .kind = KIND_INT, .choices = actions };
static const struct type type_duration = { .kind = KIND_INT, .min = 1, .max = LONGEST_TIMEOUT_S };
static const struct type type_custom_message = { .kind = KIND_STRING, .max = 300 };
static const struct field action_metadata_fields[] = {
    { FIELD(struct automod_action_metadata, channel_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "For alerts: a text channel of the guild" },
    { FIELD(struct automod_action_metadata, duration_seconds), .type = &type_duration,
      .flags = OPTIONAL, .doc = "For time-outs" },
    { FIELD(struct automod_action_metadata, custom_message), .type = &type_custom_message,
      .flags = OPTIONAL, .doc = "For blocks: a message for the guild's own use" },
    { 0 },
};
static const struct schema action_metadata_schema = {
    .name = "AutoModerationActionMetadata",
    .size = sizeof(struct automod_action_metadata),
    .fields = action_metadata_fields,
    .doc = "Parameters of an action.",
};
static const struct type type_action_metadata = { .kind = KIND_OBJECT,
                                                  .schema = &action_metadata_schema };
static const struct field action_fields[] = {
    { FIELD(struct automod_action, type), .type = &type_action_type },
    { FIELD(struct automod_action, metadata), .type = &type_action_metadata,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema action_schema = {
    .name = "AutoModerationAction",
    .size = sizeof(struct automod_action),
    .fields = action_fields,
    .doc = "An action that runs when a rule is broken.",
};
static const struct type type_action = { .kind = KIND_OBJECT, .schema = &action_schema };
const struct type type_automod_actions = {
    .kind = KIND_ARRAY, .min = 1, .max = 5, .of = &type_action
};

static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_exempt_roles = { .kind = KIND_ARRAY, .max = 20, .of = &type_id };
static const struct type type_exempt_channels = { .kind = KIND_ARRAY, .max = 50, .of = &type_id };

/* --- JSON schemas of rules and request bodies ---------------------------------------- */

static const struct field rule_fields[] = {
    { FIELD(struct automod_rule, id), .type = &type_id },
    { FIELD(struct automod_rule, guild_id), .type = &type_id },
    { FIELD(struct automod_rule, name), .type = &type_name },
    { FIELD(struct automod_rule, creator_id), .type = &type_id },
    { FIELD(struct automod_rule, event_type), .type = &type_event },
    { FIELD(struct automod_rule, trigger_type), .type = &type_automod_trigger },
    { FIELD(struct automod_rule, trigger_metadata), .type = &type_automod_metadata },
    { FIELD(struct automod_rule, actions), .type = &type_automod_actions },
    { FIELD(struct automod_rule, enabled), .type = &type_bool },
    { FIELD(struct automod_rule, exempt_roles), .type = &type_exempt_roles },
    { FIELD(struct automod_rule, exempt_channels), .type = &type_exempt_channels },
    { 0 },
};
const struct schema automod_rule_schema = {
    .name = "AutoModerationRule",
    .size = sizeof(struct automod_rule),
    .fields = rule_fields,
    .doc = "A rule that checks messages or names.",
};
const struct type type_automod_rule = { .kind = KIND_OBJECT, .schema = &automod_rule_schema };
const struct type type_automod_rules = { .kind = KIND_ARRAY, .of = &type_automod_rule };

#define BODY_FIELD(member_, type_, flags_)                                             \
    {                                                                                  \
        FIELD(struct automod_rule_patch, member_), .type = &(type_), .flags = (flags_) \
    }
#define BODY_FIELDS(must_)                                                         \
    BODY_FIELD(name, type_name, must_), BODY_FIELD(event_type, type_event, must_), \
        BODY_FIELD(trigger_type, type_automod_trigger, must_),                     \
        BODY_FIELD(trigger_metadata, type_automod_metadata, OPTIONAL | NULLABLE),  \
        BODY_FIELD(actions, type_automod_actions, must_),                          \
        BODY_FIELD(enabled, type_bool, OPTIONAL | NULLABLE),                       \
        BODY_FIELD(exempt_roles, type_exempt_roles, OPTIONAL | NULLABLE),          \
        BODY_FIELD(exempt_channels, type_exempt_channels, OPTIONAL | NULLABLE)

static const struct field draft_fields[] = { BODY_FIELDS(0), { 0 } };
static const struct field patch_fields[] = { BODY_FIELDS(OPTIONAL), { 0 } };
static const struct schema draft_schema = {
    .name = "AutoModerationRuleDraft",
    .size = sizeof(struct automod_rule_patch),
    .fields = draft_fields,
    .doc = "A new rule.",
};
static const struct schema patch_schema = {
    .name = "AutoModerationRulePatch",
    .size = sizeof(struct automod_rule_patch),
    .fields = patch_fields,
    .doc = "Changes of a rule; its trigger type cannot be changed.",
};
const struct type automod_rule_create_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
const struct type automod_rule_patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct field execution_fields[] = {
    { FIELD(struct automod_execution, guild_id), .type = &type_id },
    { FIELD(struct automod_execution, action), .type = &type_action },
    { FIELD(struct automod_execution, rule_id), .type = &type_id },
    { FIELD(struct automod_execution, rule_trigger_type), .type = &type_automod_trigger },
    { FIELD(struct automod_execution, user_id), .type = &type_id },
    { FIELD(struct automod_execution, channel_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct automod_execution, message_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct automod_execution, alert_system_message_id), .type = &type_id,
      .flags = OPTIONAL },
    { FIELD(struct automod_execution, content), .type = &type_text },
    { FIELD(struct automod_execution, matched_keyword), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct automod_execution, matched_content), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
const struct schema automod_execution_schema = {
    .name = "AutoModerationExecution",
    .size = sizeof(struct automod_execution),
    .fields = execution_fields,
    .doc = "A rule was broken and an action was executed.",
};

/* --- validation of fields that depend on each other ---------------------------------- */

static bool trigger_uses_keywords(int64_t trigger)
{
    return trigger == AUTOMOD_KEYWORD || trigger == AUTOMOD_PROFILE;
}

static void refuse_inapplicable_list(struct form *form, const struct json_path *here,
                                     const char *key, const struct opt_list *list, bool fits)
{
    struct json_path at = json_path_key(here, str_of(key));

    if (!fits && list->value.count)
        form_add_error(form, &at, FORM_CHOICES,
                       "Rules of this trigger type do not have this field.");
}

static void validate_regex_patterns(struct form *form, const struct json_path *here,
                                    struct automod_rule *r, int64_t others)
{
    struct json_path all = json_path_key(here, STR("regex_patterns"));
    const struct list *patterns = &r->trigger_metadata->regex_patterns.value;
    const struct str *p = patterns->items;

    for (size_t i = 0; i < patterns->count; i++) {
        struct json_path at = json_path_index(&all, i);
        const char *problem = "The pattern is too large.";
        struct regex_pattern *made = regex_pattern_compile(p[i], &problem);

        r->pattern_cost += made ? (int64_t)pattern_cost(made) : 0;
        if (!made || others + r->pattern_cost > AUTOMOD_MAX_PATTERN_COST)
            form_add_error(form, &at, "STRING_TYPE_REGEX", "%s", problem);
        regex_pattern_free(made);
    }
}

static void validate_trigger_metadata(struct form *form, const struct json_path *up,
                                      struct automod_rule *r, int64_t others)
{
    struct json_path here = json_path_key(up, STR("trigger_metadata"));
    struct json_path limit = json_path_key(&here, STR("mention_total_limit"));
    struct json_path named = json_path_key(&here, STR("presets"));
    struct json_path allowed = json_path_key(&here, STR("allow_list"));
    const struct automod_trigger_metadata *m = r->trigger_metadata;
    bool words = trigger_uses_keywords(r->trigger_type);

    if (!m) {
        if (r->trigger_type != AUTOMOD_SPAM)
            form_add_error(form, &here, FORM_REQUIRED);
        return;
    }
    refuse_inapplicable_list(form, &here, "keyword_filter", &m->keyword_filter, words);
    refuse_inapplicable_list(form, &here, "regex_patterns", &m->regex_patterns, words);
    refuse_inapplicable_list(form, &here, "allow_list", &m->allow_list,
                             words || r->trigger_type == AUTOMOD_PRESET);
    refuse_inapplicable_list(form, &here, "presets", &m->presets,
                             r->trigger_type == AUTOMOD_PRESET);
    if (words && m->allow_list.value.count > MOST_ALLOWED)
        form_add_error(form, &allowed, FORM_MAX_LENGTH, (long long)MOST_ALLOWED);
    if (r->trigger_type == AUTOMOD_PRESET && !m->presets.value.count)
        form_add_error(form, &named, FORM_REQUIRED);
    if (r->trigger_type == AUTOMOD_MENTIONS && m->mention_total_limit.given != GIVEN)
        form_add_error(form, &limit, FORM_REQUIRED);
    if (r->trigger_type != AUTOMOD_MENTIONS && m->mention_total_limit.given == GIVEN)
        form_add_error(form, &limit, FORM_CHOICES,
                       "Rules of this trigger type do not have this field.");
    validate_regex_patterns(form, &here, r, others);
}

static bool action_fits_trigger(int64_t action, int64_t trigger)
{
    switch (action) {
    case AUTOMOD_BLOCK:
        return trigger != AUTOMOD_PROFILE;
    case AUTOMOD_TIMEOUT:
        return trigger == AUTOMOD_KEYWORD || trigger == AUTOMOD_MENTIONS;
    case AUTOMOD_QUARANTINE:
        return trigger == AUTOMOD_PROFILE;
    default:
        return true;
    }
}

static void validate_rule_action(struct form *form, const struct json_path *here,
                                 const struct automod_action *a, int64_t trigger)
{
    struct json_path type = json_path_key(here, STR("type")),
                     metadata = json_path_key(here, STR("metadata"));
    struct json_path channel = json_path_key(&metadata, STR("channel_id"));
    struct json_path duration = json_path_key(&metadata, STR("duration_seconds"));

    if (!action_fits_trigger(a->type, trigger))
        form_add_error(form, &type, FORM_CHOICES,
                       "Rules of this trigger type cannot have this action.");
    if (a->type == AUTOMOD_ALERT && !(a->metadata && a->metadata->channel_id.given == GIVEN))
        form_add_error(form, &channel, FORM_REQUIRED);
    if (a->type == AUTOMOD_TIMEOUT &&
        !(a->metadata && a->metadata->duration_seconds.given == GIVEN))
        form_add_error(form, &duration, FORM_REQUIRED);
}

void automod_rule_validate(struct form *form, const struct json_path *here, struct automod_rule *r,
                           int64_t others)
{
    struct json_path event = json_path_key(here, STR("event_type"));
    struct json_path channels = json_path_key(here, STR("exempt_channels"));
    struct json_path all = json_path_key(here, STR("actions"));
    const struct automod_action *a = r->actions.items;

    if ((r->event_type == AUTOMOD_ON_PROFILE) != (r->trigger_type == AUTOMOD_PROFILE))
        form_add_error(form, &event, FORM_CHOICES,
                       "Rules of this trigger type need another event type.");
    if (r->trigger_type == AUTOMOD_PROFILE && r->exempt_channels.count)
        form_add_error(form, &channels, FORM_CHOICES, "Rules about names cannot exempt channels.");
    r->pattern_cost = 0;
    validate_trigger_metadata(form, here, r, others);
    for (size_t i = 0; i < r->actions.count; i++) {
        struct json_path at = json_path_index(&all, i);

        validate_rule_action(form, &at, &a[i], r->trigger_type);
    }
}

/* Adds an empty list if the trigger type uses the list, because clients require it; else removes
 * the list. */
static void normalize_trigger_metadata_list(struct opt_list *list, bool fits)
{
    list->given = fits ? GIVEN : ABSENT;
    if (!fits)
        list->value = (struct list){ 0 };
}

static void normalize_rule_action(struct arena *arena, struct automod_action *a)
{
    struct automod_action_metadata *retained = arena_alloc(arena, sizeof *retained);

    if (a->metadata && a->type == AUTOMOD_ALERT)
        retained->channel_id = a->metadata->channel_id;
    if (a->metadata && a->type == AUTOMOD_TIMEOUT)
        retained->duration_seconds = a->metadata->duration_seconds;
    if (a->metadata && a->type == AUTOMOD_BLOCK && a->metadata->custom_message.given == GIVEN)
        retained->custom_message = a->metadata->custom_message;
    a->metadata = retained;
}

void automod_rule_normalize(struct arena *arena, struct automod_rule *r)
{
    struct automod_trigger_metadata *m = arena_alloc(arena, sizeof *m);
    bool words = trigger_uses_keywords(r->trigger_type);
    bool mentions = r->trigger_type == AUTOMOD_MENTIONS;
    struct automod_action *a = r->actions.items;

    if (r->trigger_metadata)
        *m = *r->trigger_metadata;
    r->trigger_metadata = m;
    normalize_trigger_metadata_list(&m->keyword_filter, words);
    normalize_trigger_metadata_list(&m->regex_patterns, words);
    normalize_trigger_metadata_list(&m->presets, r->trigger_type == AUTOMOD_PRESET);
    normalize_trigger_metadata_list(&m->allow_list, words || r->trigger_type == AUTOMOD_PRESET);
    m->mention_total_limit.given = mentions ? GIVEN : ABSENT;
    m->mention_raid_protection_enabled =
        mentions ? opt_bool_present(m->mention_raid_protection_enabled.value)
                 : (struct opt_bool){ 0 };
    for (size_t i = 0; i < r->actions.count; i++)
        normalize_rule_action(arena, &a[i]);
}
