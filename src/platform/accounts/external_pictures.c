/* external_pictures.c - externally hosted avatars of webhooks (avatar_url), identified by a hash of
 * the URL.
 *
 * The server never fetches the URL; assets.c redirects the client to it. Only the newest 2,000 URLs
 * of an owner are stored; messages with older URLs show no picture. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "api/api.h"
#include "base/clock.h"
#include "net/address.h"
#include "net/http/server.h"

enum { MAX_PICTURES_PER_OWNER = 2000, MAX_LOCATION_BYTES = 4096 };

static struct str hash_picture_url(struct arena *arena, struct str url)
{
    unsigned char digest[16];

    crypto_generichash(digest, sizeof digest, (const unsigned char *)url.p, url.n, NULL, 0);
    return str_hex_encode(arena, digest, sizeof digest);
}

static const char ADD_ADDRESS[] =
    "insert into picture_addresses (owner_id, hash, url, since) values ($1, $2, $3, $4) "
    "on conflict do nothing";
static const char COUNT_ADDRESSES[] = "select count(*) from picture_addresses where owner_id = $1";
static const char DROP_OLDEST[] =
    "delete from picture_addresses where owner_id = $1 and hash in (select hash from "
    "picture_addresses where owner_id = $1 order by since, hash limit $2)";

static enum err delete_excess_external_pictures(struct tx *tx, snowflake owner)
{
    int64_t n = 0;
    enum err e = tx_read_int(tx, COUNT_ADDRESSES, BIND(v_id(owner)), &n);
    int64_t more = e ? 0 : n - MAX_PICTURES_PER_OWNER;

    return more > 0 ? tx_exec(tx, DROP_OLDEST, BIND(v_id(owner), v_int(more)), NULL) : e;
}

enum err external_picture_insert_url(struct tx *tx, snowflake owner, struct str url,
                                     struct opt_str *ret)
{
    struct str hash = hash_picture_url(tx_arena(tx), url);
    int64_t new = 0;
    enum err e = tx_exec(tx, ADD_ADDRESS,
                         BIND(v_id(owner), v_text(hash), v_text(url), v_int(clock_us())), &new);

    *ret = opt_str_or_null(hash);
    return e || !new ? e : delete_excess_external_pictures(tx, owner);
}

static const char FIND_ADDRESS[] =
    "select url from picture_addresses where owner_id = $1 and hash = $2";

enum err external_picture_find_url(struct tx *tx, snowflake owner, struct str hash, struct str *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_ADDRESS, BIND(v_id(owner), v_text(hash)), &row, &found);

    *ret = !e && found ? row_text(&row, 0) : (struct str){ 0 };
    return e;
}

/* Percent-encodes every byte that a response header must not contain. */
static struct str percent_encode_url(struct arena *arena, struct str url)
{
    struct buf out;

    buf_init(&out, 3 * url.n + 1);
    for (size_t i = 0; i < url.n; i++) {
        unsigned char c = (unsigned char)url.p[i];

        if (c > ' ' && c < 0x7f)
            buf_add(&out, url.p + i, 1);
        else
            buf_printf(&out, "%%%02X", c);
    }
    return buf_move_to_arena(&out, arena);
}

bool external_picture_url_fits_header(struct str url)
{
    size_t n = 0;

    for (size_t i = 0; i < url.n; i++)
        n += url.p[i] > ' ' && url.p[i] < 0x7f ? 1 : 3;
    return n <= MAX_LOCATION_BYTES;
}

/* True for URLs below this server's own base URL, even if its host is private. */
static bool is_url_of_this_server(const struct call *call, struct str url)
{
    struct str own = api_get_base_url(call, "http");

    return str_starts_with(url, own) && url.n > own.n && url.p[own.n] == '/';
}

bool external_picture_url_is_allowed(const struct call *call, struct str url)
{
    return api_may_request_private_address(call) || is_url_of_this_server(call, url) ||
           url_is_public(url);
}

static bool request_accepts_html(const struct http_request *r)
{
    struct str list = http_find_header(r, STR("Accept"));

    while (list.n) {
        struct str type = str_cut(&list, ','), parameters = type;

        type = str_trim(str_cut(&parameters, ';'));
        if (str_eq_nocase(type, STR("text/html")) ||
            str_eq_nocase(type, STR("application/xhtml+xml")))
            return true;
    }
    return false;
}

/* Returns false if a browser opens the URL as a page, which prevents open redirects. Browsers send
 * Sec-Fetch-Dest on https and localhost; elsewhere the header Accept contains text/html. */
static bool request_expects_image(const struct call *call)
{
    const struct http_request *r = call->exchange->request;
    struct str wanted = http_find_header(r, STR("Sec-Fetch-Dest"));

    if (wanted.p)
        return str_is(wanted, "image") || str_is(wanted, "empty");
    return !request_accepts_html(r);
}

enum err redirect_to_external_picture(struct call *call, struct str url)
{
    if (!request_expects_image(call) || !external_picture_url_fits_header(url) ||
        !external_picture_url_is_allowed(call, url))
        return ERR_NOT_FOUND;
    call_add_header(call, "Location", percent_encode_url(call->arena, url));
    call_add_header(call, "Cache-Control", STR("private, max-age=86400"));
    call_add_header(call, "Vary", STR("Sec-Fetch-Dest, Accept"));
    call_set_status(call, 302);
    return OK;
}
