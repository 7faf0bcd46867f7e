/* version.c - the command `version`, with which two builds of the program can be distinguished. */
#include "tools/version.h"

#include <gnu/libc-version.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <openssl/crypto.h>
#include <pcre2.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>
#include <uv.h>
#include <zlib.h>
#include <zstd.h>
#ifdef GUILDHALL_STATIC
#include <curl/curl.h>
#endif

#include "json/write.h"
#include "tools/build_identity.h"
#include "tools/program.h"

const struct build_identity build_identity = { BUILD_IDENTITY };

const struct option_row version_option_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct command_settings, json), .fallback = "off",
      .help = "Print the same as JSON" },
    { 0 },
};

#ifdef GUILDHALL_STATIC
static const char linkage[] = "static", stores[] = "SQLite";
#else
static const char linkage[] = "dynamic", stores[] = "SQLite and PostgreSQL";
#endif

#ifdef __x86_64__
static const char architecture[] = "x86_64";
#elif defined __aarch64__
static const char architecture[] = "aarch64";
#else
static const char architecture[] = "another architecture";
#endif

#ifdef __clang__
static const char compiler[] = "clang " __clang_version__;
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

struct library_version {
    const char *name, *version;
};

enum { MAX_LIBRARIES = 12, MAX_PCRE2_VERSION = 64 };

/* Lists the versions of the linked libraries. Libraries that are loaded on first use are not
 * listed. */
static size_t list_libraries(struct library_version ret[MAX_LIBRARIES])
{
    static char pcre2_version[MAX_PCRE2_VERSION];
    size_t count = 0;

    pcre2_config(PCRE2_CONFIG_VERSION, pcre2_version);
    pcre2_version[strcspn(pcre2_version, " ")] = 0; /* the date follows */
    ret[count++] = (struct library_version){ "glibc", gnu_get_libc_version() };
    ret[count++] = (struct library_version){ "libuv", uv_version_string() };
    ret[count++] = (struct library_version){ "OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING) };
    ret[count++] = (struct library_version){ "libsodium", sodium_version_string() };
    ret[count++] = (struct library_version){ "SQLite", sqlite3_libversion() };
    ret[count++] = (struct library_version){ "zlib", zlibVersion() };
    ret[count++] = (struct library_version){ "zstd", ZSTD_versionString() };
    ret[count++] = (struct library_version){ "PCRE2", pcre2_version };
    ret[count++] = (struct library_version){ "utf8proc", utf8proc_version() };
#ifdef GUILDHALL_STATIC
    /* curl_version_info is not called, because it calls functions of absent libraries
     * (packaging/static/absent.c). */
    ret[count++] = (struct library_version){ "libcurl", LIBCURL_VERSION };
#endif
    return count;
}

static void write_text_member_json(struct json_writer *j, struct str name, const char *text)
{
    json_write_key(j, name);
    json_write_text(j, str_of(text));
}

static void print_version_as_json(const struct library_version *libraries, size_t count)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, SIZE_MAX);
    json_begin_object(&j);
    write_text_member_json(&j, STR("version"), build_identity.version);
    write_text_member_json(&j, STR("commit"), build_identity.commit);
    write_text_member_json(&j, STR("commit_date"), build_identity.date);
    write_text_member_json(&j, STR("build"), BUILD_TYPE);
    write_text_member_json(&j, STR("linkage"), linkage);
    write_text_member_json(&j, STR("architecture"), architecture);
    write_text_member_json(&j, STR("compiler"), compiler);
    write_text_member_json(&j, STR("stores"), stores);
    json_write_name(&j, "libraries");
    json_begin_object(&j);
    for (size_t i = 0; i < count; i++)
        write_text_member_json(&j, str_of(libraries[i].name), libraries[i].version);
    json_end_object(&j);
    json_end_object(&j);
    buf_add_char(&out, '\n');
    print_and_free_buf(&out);
}

int run_command_version(const struct command_settings *s, char **arguments)
{
    struct library_version libraries[MAX_LIBRARIES];
    size_t count = list_libraries(libraries);

    (void)arguments;
    if (s->json) {
        print_version_as_json(libraries, count);
        return 0;
    }
    printf("guildhall %s\n", build_identity.version);
    printf("commit     %s, %s\n", build_identity.commit, build_identity.date);
    printf("build      %s, %s, %s, %s; stores in %s\n", BUILD_TYPE, linkage, architecture, compiler,
           stores);
    printf("libraries  ");
    for (size_t i = 0; i < count; i++)
        printf("%s%s %s", i ? ", " : "", libraries[i].name, libraries[i].version);
    putchar('\n');
    return 0;
}
