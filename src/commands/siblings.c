/* siblings.c - checks that sibling options have different names in every locale. */
#include "commands/form.h"
#include "commands/internal.h"
#include "json/scan.h"

/* Returns true if two options have the same name in some locale. A localized name must also differ
 * from the default name of the other option. */
static bool same_words(const struct command_option *a, const struct command_option *b)
{
    const struct pair *p = a->name_localizations.value.items;
    const struct pair *q = b->name_localizations.value.items;

    for (size_t i = 0; i < a->name_localizations.value.count; i++) {
        if (scan_eq(p[i].value, b->name))
            return true;
        for (size_t n = 0; n < b->name_localizations.value.count; n++)
            if (scan_eq(p[i].value, q[n].value) && scan_eq(p[i].key, q[n].key))
                return true;
    }
    for (size_t n = 0; n < b->name_localizations.value.count; n++)
        if (scan_eq(q[n].value, a->name))
            return true;
    return false;
}

static inline uint64_t word_hash(struct str word)
{
    uint64_t hash = 0;

    if (word.n >= 8)
        hash = scan_load(word.p) * 31 + scan_load(word.p + word.n - 8);
    else if (word.n >= 4)
        hash = (uint64_t)scan_load_half(word.p) * 31 + scan_load_half(word.p + word.n - 4);
    else
        for (size_t i = 0; i < word.n; i++)
            hash = hash << 8 | (unsigned char)word.p[i];
    return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t word_bit(struct str word)
{
    return UINT64_C(1) << (word_hash(word) >> 58);
}

/* Hash set of option names, with the option number in the lowest bits of each slot. Few lists have
 * more names than WORD_SET_MOST, or duplicates. */
struct word_set {
    uint64_t slots[64];
    unsigned count;
};
enum { WORD_SET_OPTIONS = 31, WORD_SET_MOST = 40 };

/* Adds a name. Returns false if another option may have the same name, or if the set is full. */
static inline bool word_set_add(struct word_set *set, struct str word, size_t option)
{
    uint64_t value = (word_hash(word) & ~(uint64_t)WORD_SET_OPTIONS) | (option + 1);
    size_t i = value >> 58;

    for (; set->slots[i]; i = (i + 1) % 64) {
        if (set->slots[i] == value)
            return true;
        if (!((set->slots[i] ^ value) & ~(uint64_t)WORD_SET_OPTIONS))
            return false;
    }
    set->slots[i] = value;
    return ++set->count <= WORD_SET_MOST;
}

/* Fast path for nearly all lists: returns true if no two options share a name in any locale. */
static bool names_surely_differ(const struct list *options)
{
    const struct command_option *o = options->items;
    struct word_set set = { 0 };

    if (options->count >= WORD_SET_OPTIONS)
        return false;
    for (size_t i = 0; i < options->count; i++) {
        const struct pair *p = o[i].name_localizations.value.items;

        if (!word_set_add(&set, o[i].name, i))
            return false;
        for (size_t n = 0; n < o[i].name_localizations.value.count; n++)
            if (!word_set_add(&set, p[n].value, i))
                return false;
    }
    return true;
}

/* Returns a Bloom filter of an option's names: options that share no bit share no name. */
static uint64_t word_bits(const struct command_option *o)
{
    const struct pair *p = o->name_localizations.value.items;
    uint64_t bits = word_bit(o->name);

    for (size_t i = 0; i < o->name_localizations.value.count; i++)
        bits |= word_bit(p[i].value);
    return bits;
}

const uint64_t *option_words(struct arena *arena, const struct list *options)
{
    const struct command_option *o = options->items;
    uint64_t *bits;

    if (names_surely_differ(options))
        return NULL;
    bits = arena_raw(arena, options->count * sizeof *bits);
    for (size_t i = 0; i < options->count; i++)
        bits[i] = word_bits(&o[i]);
    return bits;
}

void option_name_check(struct form *form, const struct place *here, const struct command_option *o,
                       size_t index, const uint64_t *words)
{
    for (size_t i = 0; i < index; i++) {
        if (words[i] & words[index] && o[i].name.n &&
            (scan_eq(o[i].name, o[index].name) || same_words(&o[i], &o[index]))) {
            form_fail(form, here, FORM_OPTION_NAME_TAKEN, STR_FMT(form_quote(o[index].name)));
            return;
        }
    }
}
