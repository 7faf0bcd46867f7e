/* emoji_names.c - parses emoji in URL paths. */
#include "platform/reactions/internal.h"

#include "base/emoji.h"

/* Removes the brackets of "<:name:id>" and "<a:name:id>", the form that message texts use. */
static struct str strip_emoji_brackets(struct str s)
{
    if (s.n > 2 && s.p[0] == '<' && s.p[s.n - 1] == '>')
        return str_slice(s.p + 1, s.n - 2);
    return s;
}

/* Parses a custom emoji: "name:id", "a:name:id" or ":name:id". The name is ignored, because the id
 * identifies the emoji. */
static bool parse_custom_emoji(struct arena *arena, struct str s, struct reaction_emoji_name *ret)
{
    size_t at = s.n;

    s = strip_emoji_brackets(s);
    for (at = s.n; at > 0 && s.p[at - 1] != ':'; at--) {
    }
    if (at < 2 || !snowflake_parse(str_skip_bytes(s, at), &ret->id) || !ret->id)
        return false;
    struct str name = str_slice(s.p, at - 1);
    if (str_starts_with(name, STR("a:")))
        name = str_skip_bytes(name, 2);
    else if (name.p[0] == ':')
        name = str_skip_bytes(name, 1);
    if (!name.n || memchr(name.p, ':', name.n))
        return false;
    ret->text = name;
    ret->key = str_printf(arena, ":%llu", (unsigned long long)ret->id);
    return true;
}

/* Removes U+FE0F (emoji presentation selector). Texts that differ only in this character are the
 * same emoji. */
static struct str strip_variation_selectors(struct arena *arena, struct str s)
{
    static const char mark[] = "\xef\xb8\x8f";
    char *out = arena_alloc(arena, s.n);
    size_t n = 0;

    for (size_t i = 0; i < s.n;) {
        if (s.n - i >= 3 && memcmp(s.p + i, mark, 3) == 0)
            i += 3;
        else
            out[n++] = s.p[i++];
    }
    return str_slice(out, n);
}

bool emoji_name_parse(struct arena *arena, struct str text, struct reaction_emoji_name *ret)
{
    *ret = (struct reaction_emoji_name){ .text = text };
    if (memchr(text.p, ':', text.n))
        return parse_custom_emoji(arena, text, ret);
    if (!is_emoji(text) && !is_single_regional_indicator(text))
        return false;
    ret->key = strip_variation_selectors(arena, text);
    return true;
}
