/* find.c - maps a request path to a file of the web pages. */
#include <string.h>

#include "web/internal.h"

/* Paths that return the single-page application, which reads the URL itself. An element that ends
 * with '/' matches all paths below it. */
static const char *const page_paths[] = {
    "/",       "/channels/",        "/claim",    "/friends", "/invite/",
    "/login",  "/oauth2/authorize", "/register", "/reset",   "/settings/",
    "/verify", "/workbench/",       NULL,
};

static bool is_chat_page(struct str path)
{
    for (size_t i = 0; page_paths[i]; i++) {
        struct str page = str_of(page_paths[i]);
        bool below = page.n > 1 && page.p[page.n - 1] == '/';

        if (below ? str_starts_with(path, page) || str_eq(path, str_slice(page.p, page.n - 1))
                  : str_eq(path, page))
            return true;
    }
    return false;
}

/* Returns whether the path is a page that exists in operator-only mode, where the chat is not
 * served. */
static bool is_operator_page(struct str path)
{
    return str_is(path, "/") || str_is(path, "/workbench") ||
           str_starts_with(path, STR("/workbench/"));
}

/* Returns whether a file name is safe from path traversal: only letters, digits, '-', '_', '.' and
 * '/', and no '.' after a '/'. */
static bool is_safe_file_name(struct str name)
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

/* Finds the file of a path "/web/HASH/NAME". */
static struct web_lookup_result find_hashed_asset(struct str path, struct str bundle)
{
    struct str rest = str_skip_bytes(path, 5), hash = str_cut(&rest, '/');

    if (!str_eq(hash, bundle) || !is_safe_file_name(rest))
        return (struct web_lookup_result){ 0 };
    return (struct web_lookup_result){ rest, 200, true };
}

static bool text_contains(struct str text, const char *word)
{
    return text.n && memmem(text.p, text.n, word, strlen(word));
}

/* Finds the file of a path. Pages need "Accept: text/html", except the start page of the chat, so
 * that a program that omits "/api" gets an error and no page. operator.html is index.html with a
 * flag for the scripts, which means that there is no chat. */
struct web_lookup_result find_web_file_of_path(const struct web_options *web, struct str path,
                                               struct str accept, struct str bundle)
{
    bool page = web->operator_only ? is_operator_page(path) : is_chat_page(path);
    bool person = text_contains(accept, "text/html");
    bool first = path.n == 1 && !web->operator_only;

    if (str_starts_with(path, STR("/web/"))) {
        struct web_lookup_result found = find_hashed_asset(path, bundle);

        if (found.name.n)
            return found;
    } else if (page && (person || first)) {
        return (struct web_lookup_result){ web->operator_only ? STR("operator.html")
                                                              : STR("index.html"),
                                           200, false };
    } else if (str_is(path, "/service-worker.js") && !web->operator_only) {
        return (struct web_lookup_result){ STR("service-worker.js"), 200, false };
    } else if (str_is(path, "/favicon.ico")) {
        return (struct web_lookup_result){ STR("icon.svg"), 200, false };
    }
    if (person && !str_starts_with(path, STR("/api/")))
        return (struct web_lookup_result){ STR("404.html"), 404, false };
    return (struct web_lookup_result){ 0 };
}
