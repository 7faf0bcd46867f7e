/* duplicate_option_names.c - checks that sibling options have different names in every locale. */
#include "commands/form_errors.h"
#include "commands/internal.h"
#include "json/scan.h"

/* Returns whether two options have the same name in a locale. The localized name of one option must
 * also differ from the default name of the other option. */
static bool options_share_localized_name(const struct command_option *a,
                                         const struct command_option *b)
{
    const struct string_pair *p = a->name_localizations.value.items;
    const struct string_pair *q = b->name_localizations.value.items;

    for (size_t i = 0; i < a->name_localizations.value.count; i++) {
        if (short_str_eq(p[i].value, b->name))
            return true;
        for (size_t n = 0; n < b->name_localizations.value.count; n++)
            if (short_str_eq(p[i].value, q[n].value) && short_str_eq(p[i].key, q[n].key))
                return true;
    }
    for (size_t n = 0; n < b->name_localizations.value.count; n++)
        if (short_str_eq(q[n].value, a->name))
            return true;
    return false;
}

static inline uint64_t hash_option_name(struct str word)
{
    uint64_t hash = 0;

    if (word.n >= 8)
        hash = load_u64_little_endian(word.p) * 31 + load_u64_little_endian(word.p + word.n - 8);
    else if (word.n >= 4)
        hash = (uint64_t)load_u32(word.p) * 31 + load_u32(word.p + word.n - 4);
    else
        for (size_t i = 0; i < word.n; i++)
            hash = hash << 8 | (unsigned char)word.p[i];
    return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t bloom_bit_of_name(struct str word)
{
    return UINT64_C(1) << (hash_option_name(word) >> 58);
}

/* Hash set of option names. In each slot, the lowest bits are the option's index, the other bits
 * are the name's hash. The set has at most NAME_SET_MAX names; few lists of options have more. */
struct option_name_set {
    uint64_t slots[64];
    unsigned count;
};
enum { NAME_SET_OPTIONS = 31, NAME_SET_MAX = 40 };

/* Adds the name of an option. Returns false if another may have the same name, or the set is full.
 */
static inline bool option_name_set_add(struct option_name_set *set, struct str word, size_t option)
{
    uint64_t value = (hash_option_name(word) & ~(uint64_t)NAME_SET_OPTIONS) | (option + 1);
    size_t i = value >> 58;

    for (; set->slots[i]; i = (i + 1) % 64) {
        if (set->slots[i] == value)
            return true;
        if (!((set->slots[i] ^ value) & ~(uint64_t)NAME_SET_OPTIONS))
            return false;
    }
    set->slots[i] = value;
    return ++set->count <= NAME_SET_MAX;
}

/* Fast check that no two options have the same name in any locale; true for nearly all lists. A
 * result of false means that a complete check is needed. */
static bool all_option_names_differ(const struct list *options)
{
    const struct command_option *o = options->items;
    struct option_name_set set = { 0 };

    if (options->count >= NAME_SET_OPTIONS)
        return false;
    for (size_t i = 0; i < options->count; i++) {
        const struct string_pair *p = o[i].name_localizations.value.items;

        if (!option_name_set_add(&set, o[i].name, i))
            return false;
        for (size_t n = 0; n < o[i].name_localizations.value.count; n++)
            if (!option_name_set_add(&set, p[n].value, i))
                return false;
    }
    return true;
}

/* Returns a Bloom filter of an option's names. If the filters of two options have no common bit,
 * the options have no common name. */
static uint64_t bloom_bits_of_option(const struct command_option *o)
{
    const struct string_pair *p = o->name_localizations.value.items;
    uint64_t bits = bloom_bit_of_name(o->name);

    for (size_t i = 0; i < o->name_localizations.value.count; i++)
        bits |= bloom_bit_of_name(p[i].value);
    return bits;
}

const uint64_t *hash_option_names(struct arena *arena, const struct list *options)
{
    const struct command_option *o = options->items;
    uint64_t *bits;

    if (all_option_names_differ(options))
        return NULL;
    bits = arena_alloc_unzeroed(arena, options->count * sizeof *bits);
    for (size_t i = 0; i < options->count; i++)
        bits[i] = bloom_bits_of_option(&o[i]);
    return bits;
}

void check_duplicate_option_name(struct form *form, const struct json_path *here,
                                 const struct command_option *o, size_t index,
                                 const uint64_t *name_hashes)
{
    for (size_t i = 0; i < index; i++) {
        if (name_hashes[i] & name_hashes[index] && o[i].name.n &&
            (short_str_eq(o[i].name, o[index].name) ||
             options_share_localized_name(&o[i], &o[index]))) {
            form_add_error(form, here, FORM_OPTION_NAME_TAKEN,
                           STR_ARGS(form_shorten_quoted_value(o[index].name)));
            return;
        }
    }
}
