/* What Lexbor holds, read through the functions of struct setup. */
#ifndef WALK_LEXBOR_H
#define WALK_LEXBOR_H

#include "text.h"

typedef void node;
typedef void attr;

enum { FINE, NO_MEMORY, NOT_FOR_ME };

/* The order of walking.py's kinds, handed over as numbers + 1; 0 is an element without a kind. */
enum {
    NO_KIND, A, CELL, MARKED_CELL, BLOCK, HEADING, MARKED, BREAK, COMMENT, GONE,
    SCRIPT, META, LINK, TITLE, TIME, BASE, HTML, FRAME, AREA, BODY
};
#define KIND 31      /* of an entry of the table of kinds: */
#define IS_BLOCK 128 /* one that starts a line inside a link */

#define ELEMENT 1

struct setup { /* mirrored in compiled.py */
    node *(*first_child)(node *);
    node *(*next)(node *);
    node *(*prev)(node *);
    node *(*parent)(node *);
    uintptr_t (*tag)(node *);
    unsigned (*type)(node *);
    attr *(*first_attribute)(node *);
    attr *(*next_attribute)(attr *);
    const byte *(*attribute_name)(attr *, size_t *);
    const byte *(*attribute_value)(attr *, size_t *);
    size_t text_offset;
    uint64_t key[2];
    const byte *kinds;
    const byte *levels;
    size_t n_kinds;
    uintptr_t text_tag, a_tag, image_tag, iframe_tag, head_tag;
    size_t anchor_chars, time_chars, heading_chars, marked_chars, spare_chars;
    size_t most_targets, most_values, block_chars, tag_bytes;
};

static bytes text_of(const struct setup *s, node *n) { /* of a text or a comment */
    bytes text;
    memcpy(&text.at, (byte *)n + s->text_offset, sizeof text.at);
    memcpy(&text.n, (byte *)n + s->text_offset + sizeof text.at, sizeof text.n);
    return text.at ? text : (bytes){(const byte *)"", 0};
}

/* Find the values of *n* attributes; one that is not there, or has no value, has no address. */
static void attributes(const struct setup *s, node *at, const char *const *names, bytes *values, int n) {
    for (int i = 0; i < n; i++) values[i] = (bytes){NULL, 0};
    for (attr *a = s->first_attribute(at); a; a = s->next_attribute(a)) {
        size_t length = 0;
        const byte *name = s->attribute_name(a, &length);
        if (!name) continue;
        for (int i = 0; i < n; i++)
            if (strlen(names[i]) == length && !memcmp(names[i], name, length)) {
                size_t size = 0;
                values[i].at = s->attribute_value(a, &size);
                values[i].n = values[i].at ? size : 0;
                break;
            }
    }
}

#define ATTRIBUTES(values, at, ...)                            \
    static const char *const values##_names[] = {__VA_ARGS__}; \
    bytes values[sizeof values##_names / sizeof *values##_names]; \
    attributes(s, at, values##_names, values, (int)(sizeof values / sizeof *values))

static int is_hidden(const struct setup *s, node *at) {
    if (s->type(at) != ELEMENT) return 0;
    for (attr *a = s->first_attribute(at); a; a = s->next_attribute(a)) {
        size_t length = 0;
        const byte *name = s->attribute_name(a, &length);
        if (name && length == 6 && !memcmp(name, "hidden", 6)) return 1;
    }
    return 0;
}

static int is_blank_text(const struct setup *s, node *at) {
    if (s->tag(at) != s->text_tag) return 0;
    bytes text = text_of(s, at);
    for (size_t i = 0; i < text.n; i++) {
        byte c = text.at[i];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f') return 0;
    }
    return 1;
}

/* Return the node that follows in document order below *root*, or NULL. */
static node *following(const struct setup *s, node *root, node *at) {
    node *next = s->first_child(at);
    while (!next) {
        if (at == root) return NULL;
        next = s->next(at);
        if (!next && !(at = s->parent(at))) return NULL;
    }
    return next;
}

static void plain_text(const struct setup *s, buffer *to, node *root) {
    for (node *at = root; at; at = following(s, root, at))
        if (s->tag(at) == s->text_tag) {
            bytes text = text_of(s, at);
            put(to, text.at, text.n);
        }
}

/* Tell whether the bytes speak of the attribute hidden, as walking.py's _hidden does. */
static int may_hide(const byte *html, size_t n, size_t tag_bytes) {
    const byte *p = html, *end = html + n;
    while ((p = memmem(p, (size_t)(end - p), "idden", 5))) {
        if (p - html >= 2 && end - p > 5 && (p[-1] == 'h' || p[-1] == 'H')) {
            byte c = p[-2], d = p[5];
            int opens = c == ' ' || (c >= 9 && c <= 13) || c == '"' || c == '\'' || c == '/';
            int ends = d == ' ' || (d >= 9 && d <= 13) || d == '=' || d == '>' || d == '/';
            const byte *start = (size_t)(p - html) > tag_bytes ? p - tag_bytes : html;
            if (opens && ends)
                for (const byte *q = p; q > start;) {
                    if (*--q == '<') return 1;
                    if (*q == '>') break;
                }
        }
        p += 5;
    }
    return 0;
}

#endif
