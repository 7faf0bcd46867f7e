/* rule_sets.c - compiles the AutoMod rules of a guild into one set and matches texts with it. */
#include "platform/automod/rule_sets.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "platform/automod/presets.h"

enum {
    MAX_STEPS_IN_TRANSACTION =
        400 * 1000, /* maximum number of matching steps (about 1 ms) inside a transaction */
};

struct compiled_rule {
    snowflake id;
    int64_t event, trigger;
    int64_t mention_limit;
    size_t keyword_count, first_keyword; /* range of the rule's keywords in the set's .keywords */
    size_t pattern_count, first_pattern;
};

struct automod_rule_set {
    atomic_int refs;
    struct arena *arena; /* memory of the set's texts */
    struct compiled_rule *rules;
    size_t rule_count;
    struct str *keywords; /* keywords as written in the rules, grouped by rule */
    size_t keyword_count;
    struct str *pattern_texts;
    struct regex_pattern **patterns;
    size_t pattern_count, cost;
    struct keyword_automaton *words;
};

/* --- compiling the rules of a guild -------------------------------------------------- */

struct set_builder {
    struct automod_rule_set *set;
    struct list entries; /* struct automod_keyword, in the set's arena */
};

static void add_keyword_entry(struct set_builder *m, struct str keyword, uint32_t rule,
                              uint32_t number, bool allowed)
{
    struct automod_keyword entry = { .allowed = allowed, .rule = rule, .number = number };

    if (keyword_parse(m->set->arena, keyword, &entry))
        *(struct automod_keyword *)list_append(m->set->arena, &m->entries, sizeof entry) = entry;
}

static void add_rule_keywords(struct set_builder *m, struct compiled_rule *r, uint32_t rule,
                              const struct list *words)
{
    struct automod_rule_set *s = m->set;
    const struct str *all = words->items;

    s->keywords = mem_resize(s->keywords, (s->keyword_count + words->count + 1) * sizeof *all);
    for (size_t i = 0; i < words->count; i++) {
        s->keywords[s->keyword_count++] = str_dup(s->arena, all[i]);
        add_keyword_entry(m, all[i], rule, (uint32_t)r->keyword_count++, false);
    }
}

static void add_rule_patterns(struct automod_rule_set *s, struct compiled_rule *r,
                              const struct list *patterns)
{
    const struct str *all = patterns->items;
    size_t room = s->pattern_count + patterns->count + 1;

    s->patterns = mem_resize(s->patterns, room * sizeof *s->patterns);
    s->pattern_texts = mem_resize(s->pattern_texts, room * sizeof *s->pattern_texts);
    for (size_t i = 0; i < patterns->count; i++) {
        const char *problem;
        struct regex_pattern *p = regex_pattern_compile(all[i], &problem);

        if (!p)
            continue;
        s->pattern_texts[s->pattern_count] = str_dup(s->arena, all[i]);
        s->patterns[s->pattern_count++] = p;
        s->cost += pattern_cost(p);
        r->pattern_count++;
    }
}

static void add_rule_allow_list(struct set_builder *m, uint32_t rule, const struct list *words)
{
    const struct str *all = words->items;

    for (size_t i = 0; i < words->count; i++)
        add_keyword_entry(m, all[i], rule, 0, true);
}

static void add_rule_to_set(struct set_builder *m, const struct automod_rule *in)
{
    struct automod_rule_set *s = m->set;
    const struct automod_trigger_metadata *d = in->trigger_metadata;
    uint32_t rule = (uint32_t)s->rule_count++;
    struct compiled_rule *r = &s->rules[rule];
    const int64_t *presets = d->presets.value.items;

    *r = (struct compiled_rule){ .id = in->id,
                                 .event = in->event_type,
                                 .trigger = in->trigger_type,
                                 .mention_limit = d->mention_total_limit.value,
                                 .first_keyword = s->keyword_count,
                                 .first_pattern = s->pattern_count };
    add_rule_keywords(m, r, rule, &d->keyword_filter.value);
    for (size_t i = 0; i < d->presets.value.count; i++)
        add_rule_keywords(m, r, rule, automod_preset_keywords(presets[i]));
    add_rule_patterns(s, r, &d->regex_patterns.value);
    add_rule_allow_list(m, rule, &d->allow_list.value);
}

/* Drops the most expensive patterns until the total cost is at most AUTOMOD_MAX_PATTERN_COST. Only
 * rules of program versions without this limit exceed it. A dropped pattern is replaced by NULL, so
 * that the indexes of the other patterns remain the same. */
static void drop_expensive_patterns(struct automod_rule_set *s, snowflake guild_id)
{
    while (s->cost > AUTOMOD_MAX_PATTERN_COST) {
        size_t most = 0;

        for (size_t i = 1; i < s->pattern_count; i++)
            if (!s->patterns[most] ||
                (s->patterns[i] && pattern_cost(s->patterns[i]) > pattern_cost(s->patterns[most])))
                most = i;
        s->cost -= pattern_cost(s->patterns[most]);
        regex_pattern_free(s->patterns[most]);
        s->patterns[most] = NULL;
        log_warn(
            "automod: the regular expressions of guild %llu take too long; one of them is ignored",
            (unsigned long long)guild_id);
    }
}

struct automod_rule_set *automod_rule_set_new(const struct list *rules)
{
    struct set_builder making = { .set = mem_new(sizeof *making.set) };
    struct automod_rule_set *s = making.set;
    const struct automod_rule *all = rules->items;

    atomic_init(&s->refs, 1);
    s->arena = arena_new();
    s->rules = mem_new((rules->count + 1) * sizeof *s->rules);
    for (size_t i = 0; i < rules->count; i++)
        if (all[i].enabled)
            add_rule_to_set(&making, &all[i]);
    drop_expensive_patterns(s, rules->count ? all->guild_id : 0);
    s->words =
        keyword_automaton_new(making.entries.items, making.entries.count, (uint32_t)s->rule_count);
    return s;
}

void automod_rule_set_unref(struct automod_rule_set *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < s->pattern_count; i++)
        regex_pattern_free(s->patterns[i]);
    keyword_automaton_free(s->words);
    mem_free(s->patterns);
    mem_free(s->pattern_texts);
    mem_free(s->keywords);
    mem_free(s->rules);
    arena_free(s->arena);
    mem_free(s);
}

/* --- matching a text ----------------------------------------------------------------- */

bool automod_rule_set_is_slow(const struct automod_rule_set *s, size_t bytes)
{
    return (s->cost + keyword_automaton_get_cost(s->words)) * bytes > MAX_STEPS_IN_TRANSACTION;
}

snowflake automod_rule_set_get_spam_rule(const struct automod_rule_set *s)
{
    for (size_t i = 0; i < s->rule_count; i++)
        if (s->rules[i].trigger == AUTOMOD_SPAM)
            return s->rules[i].id;
    return 0;
}

bool automod_rule_set_checks_names(const struct automod_rule_set *s)
{
    for (size_t i = 0; i < s->rule_count; i++)
        if (s->rules[i].event == AUTOMOD_ON_PROFILE)
            return true;
    return false;
}

static struct automod_hit *append_rule_hit(struct arena *arena, struct list *hits,
                                           const struct compiled_rule *r)
{
    struct automod_hit *h = list_append(arena, hits, sizeof *h);

    *h = (struct automod_hit){ .rule_id = r->id,
                               .keyword.given = GIVEN_NULL,
                               .content.given = GIVEN_NULL };
    return h;
}

static void set_hit_keyword_and_content(struct arena *arena, struct automod_hit *h,
                                        struct str keyword, struct str content)
{
    h->keyword = (struct opt_str){ GIVEN, str_dup(arena, keyword) };
    h->content = (struct opt_str){ GIVEN, str_dup(arena, content) };
}

static void find_pattern_hit(const struct automod_rule_set *s, const struct compiled_rule *r,
                             struct arena *arena, const struct folded_text *folded,
                             const struct keyword_matches *words, struct list *ret)
{
    struct str text = folded->original;

    for (size_t i = r->first_pattern; i < r->first_pattern + r->pattern_count; i++) {
        size_t start, end;

        if (!s->patterns[i] ||
            !regex_pattern_find_match(s->patterns[i], arena, text, &start, &end) ||
            keyword_allow_list_covers(words, (uint32_t)(r - s->rules), folded, start, end))
            continue;
        set_hit_keyword_and_content(arena, append_rule_hit(arena, ret, r), s->pattern_texts[i],
                                    str_slice(text.p + start, end - start));
        return;
    }
}

/* --- mentions in a text -------------------------------------------------------------- */

/* Parses <@1>, <@!1> or <@&1> at the start of a text. Returns a number that is unique for each user
 * or role; 0 if there is no mention. */
static snowflake parse_mention(struct str text, size_t *ret_size)
{
    struct str rest = text, number;
    bool role;
    snowflake id;

    if (!str_starts_with(rest, STR("<@")))
        return 0;
    rest = str_skip_bytes(rest, 2);
    role = str_starts_with(rest, STR("&"));
    if (role || str_starts_with(rest, STR("!")))
        rest = str_skip_bytes(rest, 1);
    if (rest.n > 24)
        rest.n = 24;
    number = str_cut(&rest, '>');
    *ret_size = (size_t)(rest.p - text.p);
    if (!number.n || number.p + number.n == rest.p || !snowflake_parse(number, &id))
        return 0;
    return role ? id | UINT64_C(1) << 63 : id;
}

static bool has_more_mentions_than(struct str text, int64_t limit)
{
    snowflake seen[64];
    int64_t count = 0;

    for (size_t i = 0; i + 4 <= text.n && count <= limit && count < 64; i++) {
        size_t size;
        snowflake id = text.p[i] == '<' ? parse_mention(str_skip_bytes(text, i), &size) : 0;
        bool known = false;

        for (int64_t k = 0; id && k < count; k++)
            known = known || seen[k] == id;
        if (id && !known)
            seen[count++] = id;
    }
    return count > limit;
}

void automod_rule_set_find_hits(const struct automod_rule_set *s, enum automod_event event,
                                struct arena *arena, struct str text, struct list *ret)
{
    struct folded_text folded = text_fold_case(arena, text);
    struct keyword_matches words = keyword_automaton_match(s->words, arena, folded.text);

    for (size_t i = 0; i < s->rule_count; i++) {
        const struct compiled_rule *r = &s->rules[i];
        const struct keyword_hit *h = words.hits ? &words.hits[i] : NULL;

        if (r->event != (int64_t)event)
            continue;
        if (h && h->number >= 0)
            set_hit_keyword_and_content(arena, append_rule_hit(arena, ret, r),
                                        s->keywords[r->first_keyword + (size_t)h->number],
                                        original_text_of_folded_range(&folded, h->start, h->end));
        else if (r->trigger == AUTOMOD_MENTIONS && has_more_mentions_than(text, r->mention_limit))
            append_rule_hit(arena, ret, r);
        else
            find_pattern_hit(s, r, arena, &folded, &words, ret);
    }
}

struct automod_rule_set *automod_rule_set_ref(struct automod_rule_set *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}
