/* find.c - from a path to one of the files. */
#include <string.h>

#include "web/internal.h"

/* Addresses of the one application; it reads its own address. A trailing '/' takes all below. */
static const char *const page_paths[] = {
    "/",         "/channels/", "/friends",   "/invite/", "/login",      "/oauth2/authorize",
    "/register", "/reset",     "/settings/", "/verify",  "/workbench/", NULL,
};

static bool is_page_of_chat(struct str path)
{
    for (size_t i = 0; page_paths[i]; i++) {
        struct str page = str_of(page_paths[i]);
        bool below = page.n > 1 && page.p[page.n - 1] == '/';

        if (below ? str_starts(path, page) || str_eq(path, str_slice(page.p, page.n - 1))
                  : str_eq(path, page))
            return true;
    }
    return false;
}

/* Without the chat the first page leads to the workbench. */
static bool is_page_of_operator(struct str path)
{
    return str_is(path, "/") || str_is(path, "/workbench") || str_starts(path, STR("/workbench/"));
}

/* Letters, digits and '-', '_', '.', '/' without a '.' after a '/': no way out of a folder. */
static bool is_plain_name(struct str name)
{
    char before = '/';

    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_' || ((c == '.' || c == '/') && before != '/');

        if (!fits)
            return false;
        before = c;
    }
    return name.n > 0;
}

/* "/web/HASH/NAME". */
static struct web_found find_asset(struct str path, struct str bundle)
{
    struct str rest = str_from(path, 5), hash = str_cut(&rest, '/');

    if (!str_eq(hash, bundle) || !is_plain_name(rest))
        return (struct web_found){ 0 };
    return (struct web_found){ rest, 200, true };
}

static bool str_holds(struct str text, const char *word)
{
    return text.n && memmem(text.p, text.n, word, strlen(word));
}

/* A program that forgets "/api" in front of a path must not be told that all is well: all pages
 * but the first of the chat are for those who ask for pages. operator.html is index.html with a
 * word to the scripts that there is no chat to lead to. */
struct web_found web_find(const struct web *web, struct str path, struct str accept,
                          struct str bundle)
{
    bool page = web->operator_only ? is_page_of_operator(path) : is_page_of_chat(path);
    bool person = str_holds(accept, "text/html");
    bool first = path.n == 1 && !web->operator_only;

    if (str_starts(path, STR("/web/"))) {
        struct web_found found = find_asset(path, bundle);

        if (found.name.n)
            return found;
    } else if (page && (person || first)) {
        return (struct web_found){ web->operator_only ? STR("operator.html") : STR("index.html"),
                                   200, false };
    } else if (str_is(path, "/favicon.ico")) {
        return (struct web_found){ STR("icon.svg"), 200, false };
    }
    if (person && !str_starts(path, STR("/api/")))
        return (struct web_found){ STR("404.html"), 404, false };
    return (struct web_found){ 0 };
}
