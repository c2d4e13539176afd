/* As much of a JSON reader as the adapter contract needs, and base64. A line of JSON becomes a tree of values that point
   into the line itself: it has to be kept as long as they are used. What is no JSON ends the program with exit code 2. */

#ifndef JSON_H
#define JSON_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(2);
}

static void *grab(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (memory == NULL) die("out of memory");
    return memory;
}

/* ------------------------------------------------------------------------------------------------- JSON

   Only what the contract needs: numbers are whole, and strings hold nothing that has to be unescaped (types, roles,
   base64). */

struct json {
    char kind; /* '{', '[', '"', '0' for a number, 'n' for null, true and false */
    const char *key, *text;
    size_t key_length, length;
    int64_t number;
    struct json *first, *next;
};

static struct json *pool; /* the values of the line that is being handled */
static size_t pool_used;
static const char *at; /* what is to be read next */

static bool skip(char wanted) {
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') at++;
    if (*at != wanted) return false;
    at++;
    return true;
}

static void expect(char wanted) {
    if (!skip(wanted)) die("not JSON: '%c' is missing before \"%.20s\"", wanted, at);
}

static const char *string_until_quote(size_t *length) {
    const char *begin = at;
    while (*at != '"' && *at != '\0') at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    *length = (size_t)(at - begin);
    expect('"');
    return begin;
}

static struct json *read_value(void) {
    struct json *value = &pool[pool_used++];
    memset(value, 0, sizeof *value);
    if (skip('"')) {
        value->kind = '"';
        value->text = string_until_quote(&value->length);
    } else if (skip('{') || skip('[')) {
        value->kind = at[-1];
        const char closing = value->kind == '{' ? '}' : ']';
        struct json **end = &value->first;
        while (!skip(closing)) {
            if (value->first != NULL) expect(',');
            const char *key = NULL;
            size_t key_length = 0;
            if (value->kind == '{') {
                expect('"');
                key = string_until_quote(&key_length);
                expect(':');
            }
            *end = read_value();
            (*end)->key = key;
            (*end)->key_length = key_length;
            end = &(*end)->next;
        }
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
        char *end;
        value->kind = '0';
        value->number = strtoll(at, &end, 10);
        at = end;
    } else {
        value->kind = 'n';
        while (*at >= 'a' && *at <= 'z') at++;
    }
    return value;
}

static struct json *parse(const char *line, size_t length) {
    free(pool);
    pool = grab(length + 1, sizeof *pool); /* every value has a character at least */
    pool_used = 0;
    at = line;
    return read_value();
}

static struct json *find(const struct json *object, const char *key) {
    for (struct json *value = object->first; value != NULL; value = value->next)
        if (value->key_length == strlen(key) && memcmp(value->key, key, value->key_length) == 0) return value;
    return NULL;
}

static struct json *get(const struct json *object, const char *key) {
    struct json *value = find(object, key);
    if (value == NULL) die("a line lacks \"%s\"", key);
    return value;
}

static int64_t number(const struct json *object, const char *key) { return get(object, key)->number; }

static bool says(const struct json *value, const char *text) {
    return value->length == strlen(text) && memcmp(value->text, text, value->length) == 0;
}

static size_t count(const struct json *array) {
    size_t length = 0;
    for (const struct json *value = array->first; value != NULL; value = value->next) length++;
    return length;
}

/* ------------------------------------------------------------------------------------------------- base64 */

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct bytes {
    unsigned char *data;
    size_t length;
};

static struct bytes decode_base64(const struct json *text) {
    struct bytes bytes = {grab(text->length / 4 * 3 + 3, 1), 0};
    uint32_t bits = 0;
    int held = 0;
    for (size_t i = 0; i < text->length && text->text[i] != '='; i++) {
        const char *place = memchr(ALPHABET, text->text[i], 64);
        if (place == NULL) die("a payload is not base64");
        bits = bits << 6 | (uint32_t)(place - ALPHABET);
        held += 6;
        if (held >= 8) bytes.data[bytes.length++] = (unsigned char)(bits >> (held -= 8));
    }
    return bytes;
}

static void print_base64(struct bytes bytes) {
    for (size_t i = 0; i < bytes.length; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) bits = bits << 8 | (i + k < bytes.length ? bytes.data[i + k] : 0);
        for (size_t k = 0; k < 4; k++) putchar(i + k > bytes.length ? '=' : ALPHABET[bits >> (18 - 6 * k) & 63]);
    }
}

#endif
