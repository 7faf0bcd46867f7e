/* redact.c - redacts secrets in recorded requests, replies and headers. */
#include "admin/console/redact.h"

#include "base/utf8.h"

/* Maximum length of a path segment that is shown. Ids and names of the API are shorter; a longer
 * segment may be a token in the wrong position. */
enum { PATH_SEGMENT_MAX = 64 };

static bool str_ends_with_text(struct str s, struct str end)
{
    return s.n >= end.n && memcmp(s.p + s.n - end.n, end.p, end.n) == 0;
}

static bool path_template_contains(const char *location, const char *word)
{
    return location && strstr(location, word);
}

/* Returns whether the value of a key must be redacted. A key with JSON escapes is treated as
 * secret, because it could stand for any key. */
static bool is_secret_key(struct str key, const char *location)
{
    if (memchr(key.p, '\\', key.n) || memchr(key.p, '%', key.n))
        return true;
    if (str_is(key, "code") &&
        (path_template_contains(location, "/mfa/") ||
         path_template_contains(location, "/auth/claim") ||
         path_template_contains(location, "@me/delete") ||
         path_template_contains(location, "@me/disable") ||
         path_template_contains(location, "/verify/") ||
         path_template_contains(location, "/auth/sessions") ||
         path_template_contains(location, "/remote-auth") ||
         (location && str_ends_with_text(str_of(location), STR("/users/@me")))))
        return true;
    if (str_is(key, "fingerprint") && path_template_contains(location, "/remote-auth"))
        return true;
    if ((str_is(key, "proof") || str_is(key, "state") || str_is(key, "url")) &&
        path_template_contains(location, "/auth/claim"))
        return true;
    if (str_is(key, "data") && path_template_contains(location, "/mfa/finish"))
        return true;
    if (str_is(key, "code") || str_is(key, "location") || str_is(key, "url") ||
        str_is(key, "state"))
        return path_template_contains(location, "oauth2") ||
               path_template_contains(location, "connections");
    return str_ends_with_text(key, STR("token")) || str_ends_with_text(key, STR("password")) ||
           str_ends_with_text(key, STR("secret")) || str_is(key, "code_verifier") ||
           str_is(key, "ticket");
}

static void append_valid_utf8(struct buf *out, struct str s)
{
    uint32_t cp;

    while (s.n) {
        size_t n = utf8_decode(s, &cp);

        if (n)
            buf_add(out, s.p, n);
        else
            buf_add_lit(out, "\xef\xbf\xbd");
        s = str_skip_bytes(s, n ? n : 1);
    }
}

/* Appends an error message that quotes the input, such as: Value "abc" is not snowflake. Redacts
 * the quoted part if the field is secret, or if the part is so long that it may be a misplaced
 * token. If the text was truncated, the second quote is missing. */
static void append_redacted_message(struct buf *out, struct str text, struct str quote, bool secret)
{
    const char *end = text.p + text.n, *last = end;
    const char *first = text.n ? memmem(text.p, text.n, quote.p, quote.n) : NULL;

    if (!first) {
        append_valid_utf8(out, text);
        return;
    }
    first += quote.n;
    for (const char *p = first; (p = memmem(p, (size_t)(end - p), quote.p, quote.n)); p += quote.n)
        last = p;
    if (!secret && last - first <= PATH_SEGMENT_MAX) {
        append_valid_utf8(out, text);
        return;
    }
    append_valid_utf8(out, str_slice(text.p, (size_t)(first - text.p)));
    buf_add_lit(out, "***");
    append_valid_utf8(out, str_slice(last, (size_t)(end - last)));
}

void redact_secrets_in_error_text(struct str text, const char *location, struct buf *out)
{
    struct str rest = text, key = str_cut(&rest, ':');

    while (memchr(key.p, '.', key.n))
        str_cut(&key, '.');
    append_redacted_message(out, text, STR("\""), key.n < text.n && is_secret_key(key, location));
}

/* Returns whether a key in an error object is part of the error format ("_errors", "code", …) and
 * not the name of a field. */
static bool is_validation_error_key(struct str key)
{
    return str_is(key, "_errors") || str_is(key, "code") || str_is(key, "message");
}

/* Returns the length of the string that begins with the quote at p, including the quotes. */
static size_t json_string_length(const char *p, const char *end)
{
    const char *at = p + 1;

    while (at < end && *at != '"')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return (size_t)((at < end ? at + 1 : end) - p);
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

/* Returns whether an object contains validation errors of a secret field. The errors themselves are
 * not secret. */
static bool is_validation_error_object(const char *p, const char *end)
{
    static const char key[] = "\"_errors\"";

    p = skip_space(p + 1, end);
    return (size_t)(end - p) >= sizeof key - 1 && memcmp(p, key, sizeof key - 1) == 0;
}

/* Returns the length of the number, array or object that begins at p. Returns 0 if another value
 * begins there. */
static size_t json_value_length(const char *p, const char *end)
{
    const char *at = p;
    int depth = 0;

    if (!strchr("-0123456789[{", *p) || !*p || (*p == '{' && is_validation_error_object(p, end)))
        return 0;
    while (at < end && (depth > 0 || !strchr(",]} \t\r\n", *at))) {
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at += *at == '"' ? json_string_length(at, end) : 1;
    }
    return (size_t)(at - p);
}

/* Returns true for URLs that contain tokens: webhooks, uploads and OAuth2 redirects. */
static bool json_string_is_secret(struct str s)
{
    return memmem(s.p, s.n, "/webhooks/", 10) || memmem(s.p, s.n, "\\/webhooks\\/", 12) ||
           memmem(s.p, s.n, "token=", 6);
}

static void redact_json_body(struct str text, const char *location, struct buf *out)
{
    const char *p = text.p, *end = text.p + text.n, *plain = p;
    bool hides = false; /* whether the next value is secret */
    bool refusal = false, of_secret = false;
    /* True if "message" came before "code": then "code" is an error code, not a two-factor code. */
    bool is_error = false;

    while (p < end) {
        if (*p != '"') {
            size_t other = hides && (of_secret || !is_error) ? json_value_length(p, end) : 0;

            if (other) {
                append_valid_utf8(out, str_slice(plain, (size_t)(p - plain)));
                buf_add_lit(out, "\"***\"");
                plain = p += other;
                hides = false;
                continue;
            }
            /* After a secret key, only white space and ':' are skipped. Any other character begins
             * a value that is not a string. */
            hides = hides && ((unsigned char)*p <= ' ' || *p == ':');
            p++;
            continue;
        }
        size_t n = json_string_length(p, end);
        const char *after = skip_space(p + n, end);
        struct str inside = str_slice(p + 1, n > 1 ? n - 2 : 0);
        bool is_key = !hides && after < end && *after == ':';

        if (!is_key && (hides || json_string_is_secret(str_slice(p, n)))) {
            append_valid_utf8(out, str_slice(plain, (size_t)(p - plain)));
            buf_add_lit(out, "\"***\"");
            plain = p + n;
        } else if (!is_key && refusal) {
            append_valid_utf8(out, str_slice(plain, (size_t)(p - plain)));
            append_redacted_message(out, str_slice(p, n), STR("\\\""), of_secret);
            plain = p + n;
        }
        hides = is_key && is_secret_key(inside, location);
        refusal = is_key && str_is(inside, "message");
        is_error |= refusal;
        if (is_key && !is_validation_error_key(inside))
            of_secret = hides;
        p += n;
    }
    append_valid_utf8(out, str_slice(plain, (size_t)(p - plain)));
}

static void redact_form_body(struct str text, const char *location, struct buf *out)
{
    bool first = true;

    while (text.n) {
        struct str pair = str_cut(&text, '&'), key = pair;
        bool has_value = memchr(pair.p, '=', pair.n) != NULL;

        key = str_cut(&pair, '=');
        if (!first)
            buf_add_char(out, '&');
        first = false;
        append_valid_utf8(out, key);
        if (!has_value)
            continue;
        buf_add_char(out, '=');
        if (is_secret_key(key, location))
            buf_add_lit(out, "***");
        else
            append_valid_utf8(out, pair);
    }
}

void redact_secrets_in_body(struct str text, const char *location, struct buf *out)
{
    const char *first = text.n ? skip_space(text.p, text.p + text.n) : text.p;
    bool json = first < text.p + text.n && strchr("{[\"", *first);

    if (json)
        redact_json_body(text, location, out);
    else
        redact_form_body(text, location, out);
}

static size_t count_path_segments(struct str path)
{
    size_t n = 0;

    while (path.n) {
        str_cut(&path, '/');
        n++;
    }
    return n;
}

/* Returns whether a path segment is secret. `location` is the path of the route; its last segments
 * correspond to the last segments of the path. */
static bool is_secret_path_segment(struct str segment, size_t left, const char *location)
{
    struct str row = str_of(location ? location : "");
    size_t skip = count_path_segments(row);

    if (segment.n > PATH_SEGMENT_MAX)
        return true;
    if (left > skip)
        return false;
    for (skip -= left; skip; skip--)
        str_cut(&row, '/');
    return str_ends_with_text(str_cut(&row, '/'), STR("token}"));
}

void redact_secrets_in_request_target(struct str target, const char *location, struct buf *out)
{
    struct str query = target, path = str_cut(&query, '?');
    const char *end = path.p + path.n;
    size_t left = count_path_segments(path);

    while (path.n) {
        struct str segment = str_cut(&path, '/');

        if (is_secret_path_segment(segment, left--, location))
            buf_add_lit(out, "***");
        else
            append_valid_utf8(out, segment);
        if (segment.p + segment.n < end)
            buf_add_char(out, '/');
    }
    if (query.n) {
        buf_add_char(out, '?');
        redact_form_body(query, location, out);
    }
}

static bool str_ends_with_text_nocase(struct str s, const char *end)
{
    size_t n = strlen(end);

    return s.n >= n && str_eq_nocase(str_skip_bytes(s, s.n - n), str_slice(end, n));
}

static bool is_secret_header(struct str name)
{
    static const char *const ends[] = {
        "authorization", "cookie", "token", "secret",    "password",
        "key",           "code",   "jwt",   "assertion", "oidc-data",
    };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends_with_text_nocase(name, ends[i]))
            return true;
    return false;
}

/* Writes "Bot abc" as "Bot ***". The scheme stays visible, because a missing or wrong scheme is a
 * common mistake. */
static void append_redacted_authorization(struct buf *out, struct str value)
{
    static const char *const schemes[] = { "Bot", "Bearer", "Basic" };
    struct str word = str_cut(&value, ' ');

    for (size_t i = 0; value.n && i < sizeof schemes / sizeof *schemes; i++)
        if (str_eq_nocase(word, str_of(schemes[i])))
            buf_printf(out, "%s ", schemes[i]);
    buf_add_lit(out, "***");
}

/* Returns whether the value of a header is a URL, because the query of a URL may have a token or a
 * code. */
static bool is_url_header(struct str name)
{
    return str_eq_nocase(name, STR("Location")) || str_eq_nocase(name, STR("Referer")) ||
           str_eq_nocase(name, STR("Link")) || str_ends_with_text_nocase(name, "-uri") ||
           str_ends_with_text_nocase(name, "-url");
}

/* Redacts the query and the fragment of a URL, because they may contain a token. */
static void redact_url(struct str address, const char *location, struct buf *out)
{
    struct str fragment = address, rest = str_cut(&fragment, '#');

    redact_secrets_in_request_target(rest, location, out);
    if (fragment.n)
        buf_add_lit(out, "#***");
}

void redact_secrets_in_headers(struct str lines, const char *location, struct buf *out)
{
    while (lines.n) {
        struct str value = str_cut(&lines, '\n'), name;

        if (value.n && value.p[value.n - 1] == '\r')
            value.n--;
        /* A line without a colon is a header name that was truncated. */
        if (!memchr(value.p, ':', value.n))
            continue;
        name = str_cut(&value, ':');
        while (value.n && (*value.p == ' ' || *value.p == '\t'))
            value = str_skip_bytes(value, 1);
        append_valid_utf8(out, name);
        buf_add_lit(out, ": ");
        if (is_secret_header(name))
            append_redacted_authorization(out, value);
        else if (is_url_header(name))
            redact_url(value, location, out);
        else
            append_valid_utf8(out, value);
        buf_add_char(out, '\n');
    }
}
