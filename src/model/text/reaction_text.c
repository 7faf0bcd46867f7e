/* reaction_text.c - reactions of a message as one text column: parses, changes, encodes it. */
#include "model/text/reaction_text.h"

#include "json/number.h"
#include "model/fields/rows.h"

enum {
    ID_DIGITS = 16,
    HEAD_BYTES = ID_DIGITS + 1, /* length of the first line, in bytes */
    MIN_LINE_BYTES = ID_DIGITS + sizeof "00,0,,\t\n" - 1,
    MAX_STORED_USERS = 4, /* maximum number of stored user ids per emoji */
};

/* The fields of one line of a reaction text, as text that is not converted yet. */
struct reaction_line_parts {
    struct str id, normal, burst, users, key, emoji;
    unsigned reader_bits;
};

/* Parses the text up to the next byte `mark`. Only every `step`-th byte can be the mark. Returns
 * false if there is no mark. For a few bytes this is faster than memchr. */
static inline bool parse_reaction_line_part(const char **at, const char *end, char mark,
                                            size_t step, struct str *ret)
{
    const char *p = *at;

    while (p < end && *p != mark)
        p += step;
    if (p >= end)
        return false;
    *ret = str_slice(*at, (size_t)(p - *at));
    *at = p + 1;
    return true;
}

static inline bool parse_reaction_line_parts(struct str *text, struct reaction_line_parts *ret)
{
    struct str s = *text;
    const char *at = s.p + ID_DIGITS + 1;
    const char *end = s.n < MIN_LINE_BYTES ? NULL : memchr(at, '\n', s.n - ID_DIGITS - 1);

    if (!end)
        return false;
    ret->id = str_slice(s.p, ID_DIGITS);
    ret->reader_bits =
        (unsigned)(s.p[ID_DIGITS] - '0') & (READER_REACTED_NORMAL | READER_REACTED_BURST);
    if (!parse_reaction_line_part(&at, end, ',', 1, &ret->normal) ||
        !parse_reaction_line_part(&at, end, ',', 1, &ret->burst) ||
        !parse_reaction_line_part(&at, end, ',', ID_DIGITS, &ret->users) ||
        !parse_reaction_line_part(&at, end, '\t', 1, &ret->key))
        return false;
    ret->emoji = str_slice(at, (size_t)(end - at));
    *text = str_slice(end + 1, s.n - (size_t)(end + 1 - s.p));
    return true;
}

static void format_hex_id(snowflake id, char ret[ID_DIGITS])
{
    for (int i = ID_DIGITS - 1; i >= 0; i--, id >>= 4)
        ret[i] = "0123456789abcdef"[id & 15];
}

static snowflake parse_hex_id(struct str digits)
{
    snowflake id = 0;

    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];

        id = id << 4 | (snowflake)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return id;
}

bool reaction_line_parse_next(struct str *text, struct reaction_line *ret)
{
    struct reaction_line_parts parts;
    struct reaction_line line;

    if (!parse_reaction_line_parts(text, &parts) || !str_to_i64(parts.normal, &line.normal) ||
        !str_to_i64(parts.burst, &line.burst))
        return false;
    line.id = parse_hex_id(parts.id);
    line.reader_bits = parts.reader_bits;
    line.users = parts.users;
    line.key = parts.key;
    line.emoji = parts.emoji;
    *ret = line;
    return true;
}

void reaction_text_append_reader_line(struct buf *out)
{
    buf_add_lit(out, "0000000000000000\n");
}

struct str reaction_text_skip_reader_line(struct str text)
{
    return str_skip_bytes(text, HEAD_BYTES);
}

void reaction_line_append(struct buf *out, const struct reaction_line *line)
{
    char id[ID_DIGITS];

    format_hex_id(line->id, id);
    buf_add(out, id, sizeof id);
    buf_add_char(out, '0');
    buf_add_i64(out, line->normal);
    buf_add_char(out, ',');
    buf_add_i64(out, line->burst);
    buf_add_char(out, ',');
    buf_add_str(out, line->users);
    buf_add_char(out, ',');
    buf_add_str(out, line->key);
    buf_add_char(out, '\t');
    buf_add_str(out, line->emoji);
    buf_add_char(out, '\n');
}

static inline ptrdiff_t find_offset_of_user_in_line(struct str users, const char id[ID_DIGITS])
{
    for (size_t i = 0; i + ID_DIGITS <= users.n; i += ID_DIGITS)
        if (memcmp(users.p + i, id, ID_DIGITS) == 0)
            return (ptrdiff_t)i;
    return -1;
}

bool reaction_line_contains_user(const struct reaction_line *line, snowflake user_id)
{
    char id[ID_DIGITS];

    format_hex_id(user_id, id);
    return find_offset_of_user_in_line(line->users, id) >= 0;
}

bool reaction_user_ids_read_next(struct str *users, snowflake *ret)
{
    if (users->n < ID_DIGITS)
        return false;
    *ret = parse_hex_id(str_slice(users->p, ID_DIGITS));
    *users = str_skip_bytes(*users, ID_DIGITS);
    return true;
}

static bool reaction_line_contains_all_users(const struct reaction_line *line)
{
    return line->burst == 0 && line->users.n == (uint64_t)line->normal * ID_DIGITS;
}

void reaction_line_add_user(struct arena *arena, struct reaction_line *line, snowflake user_id)
{
    char id[ID_DIGITS];

    if (line->users.n == (uint64_t)line->normal * ID_DIGITS && line->normal < MAX_STORED_USERS) {
        format_hex_id(user_id, id);
        line->users = STR_CONCAT(arena, line->users, str_slice(id, ID_DIGITS));
    }
    line->normal++;
}

void reaction_line_remove_user(struct arena *arena, struct reaction_line *line, snowflake user_id)
{
    char id[ID_DIGITS];

    format_hex_id(user_id, id);
    ptrdiff_t at = find_offset_of_user_in_line(line->users, id);
    if (at >= 0)
        line->users = STR_CONCAT(arena, str_slice(line->users.p, (size_t)at),
                                 str_skip_bytes(line->users, (size_t)at + ID_DIGITS));
    line->normal--;
}

int64_t reaction_text_get_state(struct str text)
{
    struct str lines = reaction_text_skip_reader_line(text);
    struct reaction_line line;

    while (reaction_line_parse_next(&lines, &line))
        if (!reaction_line_contains_all_users(&line))
            return MAY_HAVE_REACTIONS;
    return HAS_REACTIONS_WITH_ALL_USERS;
}

struct str reaction_emoji_encode(struct arena *arena, const struct reaction_emoji *emoji)
{
    return json_column_encode(arena, &type_reaction_emoji, emoji);
}

const struct reaction_emoji *reaction_emoji_decode(struct arena *arena,
                                                   const struct reaction_line *line)
{
    static const struct reaction_emoji unreadable = { .id = { .given = GIVEN_NULL } };
    const struct reaction_emoji *emoji =
        json_column_decode(arena, &type_reaction_emoji, line->emoji);

    return emoji ? emoji : &unreadable;
}

void reaction_text_write_reader_id(struct str text, snowflake reader)
{
    if (text.n >= HEAD_BYTES)
        format_hex_id(reader, (char *)(uintptr_t)text.p);
}

void reaction_text_mark_reaction_of_reader(struct str text, snowflake id,
                                           enum reader_reaction_bits reader_bits)
{
    struct str lines = reaction_text_skip_reader_line(text);
    struct reaction_line_parts parts;
    char wanted[ID_DIGITS];

    format_hex_id(id, wanted);
    while (parse_reaction_line_parts(&lines, &parts))
        if (memcmp(parts.id.p, wanted, ID_DIGITS) == 0) {
            char *mark = (char *)(uintptr_t)(parts.id.p + ID_DIGITS);

            *mark = (char)('0' + (parts.reader_bits | reader_bits));
            return;
        }
}

static char *copy_text_and_advance(char *at, struct str s)
{
    memcpy(at, s.p, s.n);
    return at + s.n;
}

/* Copies a count to the output. A count of one digit, the most frequent case, needs no loop. */
static char *write_count_and_advance(char *at, struct str s)
{
    if (s.n != 1)
        return copy_text_and_advance(at, s);
    *at = s.p[0];
    return at + 1;
}

/* The JSON after the counts of a reaction. The index tells whether the reading user has added a
 * normal reaction (bit 0) and a burst reaction (bit 1). The size is constant, so that the compiler
 * inlines the copy. */
enum { MAX_TAIL_BYTES = 48 };
#define TAIL_TEXT(me, burst)                                                         \
    {                                                                                \
        "},\"me\":" me ",\"me_burst\":" burst ",\"burst_colors\":[]}",               \
            sizeof "},\"me\":" me ",\"me_burst\":" burst ",\"burst_colors\":[]}" - 1 \
    }
static const struct {
    char text[MAX_TAIL_BYTES];
    size_t n;
} tails[] = {
    TAIL_TEXT("false", "false"),
    TAIL_TEXT("true", "false"),
    TAIL_TEXT("false", "true"),
    TAIL_TEXT("true", "true"),
};

static char *write_end_of_reaction_json(char *at, unsigned reader_bits)
{
    memcpy(at, tails[reader_bits].text, MAX_TAIL_BYTES);
    return at + tails[reader_bits].n;
}

/* Returns the number of normal and burst reactions together. If there are no burst reactions,
 * returns the text of `normal`. */
static struct str format_total_count(const struct reaction_line_parts *parts, char digits[20])
{
    int64_t normal, burst;

    if (parts->burst.n == 1 && parts->burst.p[0] == '0')
        return parts->normal;
    if (!str_to_i64(parts->normal, &normal) || !str_to_i64(parts->burst, &burst))
        return STR("0");
    return str_slice(digits, format_decimal_digits((uint64_t)(normal + burst), digits));
}

static void write_reaction_json(struct buf *out, bool first, const char reader[ID_DIGITS],
                                const struct reaction_line_parts *parts)
{
    /* Upper limit of the constant JSON around the fields of a reaction, in bytes. */
    enum { LITERALS = 128 };
    char digits[20];
    struct str count = format_total_count(parts, digits);
    char *begin =
        buf_reserve(out, LITERALS + parts->emoji.n + count.n + parts->normal.n + parts->burst.n);
    char *at = begin;

    if (!at)
        return;
    if (!first)
        *at++ = ',';
    at = copy_text_and_advance(at, STR("{\"emoji\":"));
    at = copy_text_and_advance(at, parts->emoji);
    at = copy_text_and_advance(at, STR(",\"count\":"));
    at = write_count_and_advance(at, count);
    at = copy_text_and_advance(at, STR(",\"count_details\":{\"normal\":"));
    at = write_count_and_advance(at, parts->normal);
    at = copy_text_and_advance(at, STR(",\"burst\":"));
    at = write_count_and_advance(at, parts->burst);
    at = write_end_of_reaction_json(
        at,
        parts->reader_bits |
            (find_offset_of_user_in_line(parts->users, reader) >= 0 ? READER_REACTED_NORMAL : 0));
    out->n += (size_t)(at - begin);
}

bool write_next_reaction_json(struct json_writer *j, struct str *lines,
                              struct reaction_json_offsets *ret)
{
    static const char nobody[ID_DIGITS] = "0000000000000000";
    static const char from_me[] = "false,\"me_burst\":false,\"burst_colors\":[]}";
    static const char from_burst[] = "false,\"burst_colors\":[]}";
    struct reaction_line_parts parts;

    if (!parse_reaction_line_parts(lines, &parts))
        return false;
    write_reaction_json(j->out, !j->comma, nobody, &parts);
    j->comma = true;
    *ret = (struct reaction_json_offsets){
        .id = parse_hex_id(parts.id),
        .users = parts.users,
        .me = j->out->n - (sizeof from_me - 1),
        .me_burst = j->out->n - (sizeof from_burst - 1),
    };
    return true;
}

void write_reactions_json(struct json_writer *j, struct str text)
{
    struct str lines = reaction_text_skip_reader_line(text);
    struct reaction_line_parts parts;

    json_begin_array(j);
    for (bool first = true; parse_reaction_line_parts(&lines, &parts); first = false)
        write_reaction_json(j->out, first, text.p, &parts);
    json_end_array(j);
}
