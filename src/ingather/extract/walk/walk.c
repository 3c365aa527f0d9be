/* The walk of walking.py in C: one pass over Lexbor's tree, one msgpack buffer back.
 *
 * Every result equals the Python walk's; what is awkward here (bytes that are not UTF-8, a body that is not
 * in the tree, a rel beyond ASCII) is answered with NOT_FOR_ME, and Python walks. The tree is only read.
 * Lexbor is reached through the functions in struct setup: nothing is linked, and of Lexbor's structures
 * only one offset is known, which walk_learn finds. No recursion, no global state; buffers grow up to a cap.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FINE, NO_MEMORY, NOT_FOR_ME };

/* The order of walking.py's kinds, handed over as numbers + 1; 0 is an element without a kind. */
enum {
    NO_KIND, A, CELL, MARKED_CELL, BLOCK, HEADING, MARKED, BREAK, COMMENT, GONE,
    SCRIPT, META, LINK, TITLE, TIME, BASE, HTML, FRAME, AREA, BODY
};
#define KIND 31      /* of an entry of the table of kinds: */
#define IS_BLOCK 128 /* one that starts a line inside a link */

#define NONE SIZE_MAX
#define CAP ((size_t)1 << 30)
#define ELEMENT 1
#define SECTIONS 12

typedef unsigned char byte;
typedef void node;
typedef void attr;
typedef struct { const byte *at; size_t n; } bytes;
typedef struct { byte *at; size_t n, room, items; int failed; } buffer;

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

struct result { byte *at; size_t n; };

typedef struct { node *at; size_t link, slice; byte after, gone, body; } opened;
typedef struct { bytes href; size_t start, end; } link_; /* a slice of inner */
typedef struct { size_t start, end; byte level; } slice; /* of shown; level 0: marked words */
typedef struct { node *at; bytes href, rel; size_t link; const char *kind; size_t words, n; } target;
typedef struct { uint64_t hash; bytes key; size_t value; } entry;
typedef struct { entry *at; size_t n, room; } table;

typedef struct {
    const struct setup *s;
    buffer inner;  /* text inside links, nothing removed */
    buffer shown;  /* text without what is not to be seen */
    buffer opens, links, slices, targets;
    buffer relations, metas, json_ld, times, words, title;
    bytes base, language;
    table seen;
    node *after;   /* the last element that got a line feed behind it */
    size_t links_open, gone, body_start, body_end;
    byte in_body, stopped, hidden, titled;
} walk;

/* -- buffers ------------------------------------------------------------------------------------------- */

static int room_for(buffer *b, size_t n) {
    if (b->failed) return 0;
    if (n <= b->room - b->n) return 1;
    if (n > CAP || b->n + n > CAP) { b->failed = 1; return 0; }
    size_t room = b->room ? b->room : 1024;
    while (room < b->n + n) room *= 2;
    byte *at = realloc(b->at, room);
    if (!at) { b->failed = 1; return 0; }
    b->at = at;
    b->room = room;
    return 1;
}

static void put(buffer *b, const void *at, size_t n) {
    if (!n || !room_for(b, n)) return;
    memcpy(b->at + b->n, at, n);
    b->n += n;
}

static void put_byte(buffer *b, byte c) { put(b, &c, 1); }

static void put_size(buffer *b, byte mark, size_t n, int width) {
    byte head[5] = {mark};
    for (int i = width; i > 0; i--, n >>= 8) head[i] = (byte)n;
    put(b, head, (size_t)width + 1);
}

static void put_string(buffer *b, const void *at, size_t n) { /* msgpack's str */
    if (n < 32) put_byte(b, (byte)(0xa0 | n));
    else if (n < 256) put_size(b, 0xd9, n, 1);
    else if (n < 65536) put_size(b, 0xda, n, 2);
    else put_size(b, 0xdb, n, 4);
    put(b, at, n);
}

static void put_bytes(buffer *b, bytes text) { put_string(b, text.at, text.n); }

static void put_section(buffer *b, const buffer *section) { /* msgpack's array of what was collected */
    put_size(b, 0xdd, section->items, 4);
    put(b, section->at, section->n);
    if (section->failed) b->failed = 1;
}

/* Return a new, empty item of a buffer that is an array, or NULL. */
static void *grow(buffer *b, size_t size) {
    if (!room_for(b, size)) return NULL;
    void *item = b->at + b->n;
    memset(item, 0, size);
    b->n += size;
    b->items++;
    return item;
}

#define ITEM(type, b, i) ((type *)(void *)((b).at) + (i))

/* -- text ---------------------------------------------------------------------------------------------- */

/* Return how many bytes at p are one character of white space as str.split sees it, 0 for none. */
static inline size_t white(const byte *p, const byte *end) {
    byte c = *p;
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
    if (c == 0xc2) return end - p >= 2 && (p[1] == 0x85 || p[1] == 0xa0) ? 2 : 0;
    if (c < 0xe1 || c > 0xe3 || end - p < 3) return 0;
    byte d = p[1], e = p[2];
    if (c == 0xe1) return d == 0x9a && e == 0x80 ? 3 : 0;
    if (c == 0xe3) return d == 0x80 && e == 0x80 ? 3 : 0;
    if (d == 0x81) return e == 0x9f ? 3 : 0;
    return d == 0x80 && (e <= 0x8a || e == 0xa8 || e == 0xa9 || e == 0xaf) ? 3 : 0;
}

static bytes strip(const byte *p, const byte *end) {
    size_t n;
    while (p < end && (n = white(p, end))) p += n;
    while (p < end) {
        if (white(end - 1, end) == 1) end -= 1;
        else if (end - p >= 2 && white(end - 2, end) == 2) end -= 2;
        else if (end - p >= 3 && white(end - 3, end) == 3) end -= 3;
        else break;
    }
    return (bytes){p, (size_t)(end - p)};
}

static void fold(buffer *to, const byte *p, size_t n) {
    const byte *end = p + n;
    size_t start = to->n, w;
    while (p < end) {
        while (p < end && (w = white(p, end))) p += w;
        const byte *word = p;
        while (p < end && !white(p, end)) p++;
        if (p > word) {
            if (to->n > start) put_byte(to, ' ');
            put(to, word, (size_t)(p - word));
        }
    }
}

/* str.strip for each line, empty ones dropped. */
static void fold_lines(buffer *to, const byte *p, size_t n) {
    const byte *end = p + n;
    size_t start = to->n;
    while (p < end) {
        const byte *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        bytes line = strip(p, stop);
        if (line.n) {
            if (to->n > start) put_byte(to, '\n');
            put(to, line.at, line.n);
        }
        p = stop + 1;
    }
}

static size_t characters(const byte *p, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += (p[i] & 0xc0) != 0x80;
    return count;
}

/* Return the bytes that the first *most* characters take. */
static size_t prefix(const byte *p, size_t n, size_t most) {
    if (n <= most) return n;
    for (size_t i = 0; i < n; i++)
        if ((p[i] & 0xc0) != 0x80 && most-- == 0) return i;
    return n;
}

static byte lower(byte c) { return c >= 'A' && c <= 'Z' ? (byte)(c | 32) : c; }

static int alike(const byte *p, const char *word, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (lower(p[i]) != (byte)word[i]) return 0;
    return 1;
}

static int speaks_of(bytes text, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++)
        if (alike(text.at + i, word, n)) return 1;
    return 0;
}

static int is_word(bytes text, const char *word) { return text.n == strlen(word) && alike(text.at, word, text.n); }

static bytes until(bytes text, int mark) {
    const byte *stop = text.n ? memchr(text.at, mark, text.n) : NULL;
    return (bytes){text.at, stop ? (size_t)(stop - text.at) : text.n};
}

static int is_utf8(const byte *p, size_t n) {
    const byte *end = p + n;
    while (p < end) {
        uint64_t eight;
        while (end - p >= 8 && (memcpy(&eight, p, 8), !(eight & 0x8080808080808080u))) p += 8;
        if (p == end) break;
        byte c = *p++;
        if (c < 0x80) continue;
        int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        if (c < 0xc2 || c > 0xf4 || end - p < more) return 0;
        byte d = *p, least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        if (d < least || d > most) return 0;
        for (p++; --more; p++)
            if ((*p & 0xc0) != 0x80) return 0;
    }
    return 1;
}

/* -- targets by href: a table with a secret key, since a page may choose what it holds --------------------- */

#define ROTATE(x, n) (((x) << (n)) | ((x) >> (64 - (n))))
#define ROUND                                                                            \
    a += b, b = ROTATE(b, 13) ^ a, a = ROTATE(a, 32), c += d, d = ROTATE(d, 16) ^ c,      \
    a += d, d = ROTATE(d, 21) ^ a, c += b, b = ROTATE(b, 17) ^ c, c = ROTATE(c, 32)

static uint64_t hash_of(const struct setup *s, bytes key) { /* SipHash-1-3 */
    uint64_t a = s->key[0] ^ 0x736f6d6570736575u, b = s->key[1] ^ 0x646f72616e646f6du;
    uint64_t c = s->key[0] ^ 0x6c7967656e657261u, d = s->key[1] ^ 0x7465646279746573u, word;
    size_t i = 0;
    for (; i + 8 <= key.n; i += 8) {
        memcpy(&word, key.at + i, 8);
        d ^= word;
        ROUND;
        a ^= word;
    }
    word = (uint64_t)key.n << 56;
    for (unsigned shift = 0; i < key.n; i++, shift += 8) word |= (uint64_t)key.at[i] << shift;
    d ^= word;
    ROUND;
    a ^= word;
    c ^= 0xff;
    ROUND; ROUND; ROUND;
    return a ^ b ^ c ^ d;
}

static entry *place_in(const table *t, uint64_t hash, bytes key) {
    for (size_t i = hash & (t->room - 1);; i = (i + 1) & (t->room - 1)) {
        entry *e = t->at + i;
        if (!e->key.at || (e->hash == hash && e->key.n == key.n && !memcmp(e->key.at, key.at, key.n))) return e;
    }
}

static entry *find(const struct setup *s, const table *t, bytes key) {
    if (!t->n) return NULL;
    entry *e = place_in(t, hash_of(s, key), key);
    return e->key.at ? e : NULL;
}

/* Keep *value* under *key*, whose bytes must outlive the table; returns 0 when there is no memory. */
static int keep(const struct setup *s, table *t, bytes key, size_t value) {
    if (4 * (t->n + 1) > 3 * t->room) {
        table larger = {NULL, t->n, t->room ? 2 * t->room : 128};
        if (larger.room > CAP / sizeof(entry) || !(larger.at = calloc(larger.room, sizeof(entry)))) return 0;
        for (size_t i = 0; i < t->room; i++)
            if (t->at[i].key.at) *place_in(&larger, t->at[i].hash, t->at[i].key) = t->at[i];
        free(t->at);
        *t = larger;
    }
    uint64_t hash = hash_of(s, key);
    entry *e = place_in(t, hash, key);
    t->n += !e->key.at;
    *e = (entry){hash, key, value};
    return 1;
}

/* -- what Lexbor holds --------------------------------------------------------------------------------- */

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

/* -- the walk ------------------------------------------------------------------------------------------ */

static void emit(walk *w, const byte *at, size_t n) {
    if (w->links_open) put(&w->inner, at, n);
    if (!w->gone && !w->stopped) put(&w->shown, at, n);
}

static void line_feed(walk *w) { emit(w, (const byte *)"\n", 1); }

static void add_target(walk *w, node *at, bytes href, bytes rel, size_t link, const char *kind) {
    target *t = grow(&w->targets, sizeof(target));
    if (t) *t = (target){at, until(href, '#'), rel, link, kind, 0, 0};
}

/* Return an error, FINE if not. */
static int enter_link(walk *w, node *at, node *before, opened *o) {
    const struct setup *s = w->s;
    ATTRIBUTES(v, at, "href", "xlink:href", "rel");
    bytes href = v[0].n ? v[0] : v[1];
    if (!href.n || href.at[0] == '#') return FINE;
    bytes whole = href;
    href = until(whole, '#');
    o->link = w->links.items;
    if (!find(s, &w->seen, href)) {
        if (!speaks_of(v[2], "nofollow") && !keep(s, &w->seen, href, 0)) return NO_MEMORY;
        if (w->targets.items < s->most_targets) add_target(w, at, href, v[2], o->link, "a");
        if (before && s->tag(before) == s->a_tag) line_feed(w);
        node *inside = s->first_child(at);
        uintptr_t tag = inside ? s->tag(inside) : 0;
        if (inside && tag < s->n_kinds && s->kinds[tag] & IS_BLOCK) {
            line_feed(w);
            o->after = 1;
        }
    }
    link_ *l = grow(&w->links, sizeof(link_));
    if (!l) return NO_MEMORY;
    *l = (link_){v[0].n ? href : (bytes){NULL, 0}, w->inner.n, w->inner.n};
    return FINE;
}

static void note_meta(walk *w, node *at) {
    const struct setup *s = w->s;
    ATTRIBUTES(v, at, "content", "http-equiv", "name", "property", "itemprop");
    bytes name = v[2].n ? v[2] : v[3].n ? v[3] : v[4];
    if (!v[0].at || !(v[1].n || name.n)) return;
    put_byte(&w->metas, 0x93);
    put_bytes(&w->metas, v[1]);
    put_bytes(&w->metas, name);
    put_bytes(&w->metas, v[0]);
    w->metas.items++;
}

static void note_relation(walk *w, node *at) {
    const struct setup *s = w->s;
    ATTRIBUTES(v, at, "href", "title", "rel", "type");
    if (!v[0].n || !v[2].n) return;
    put_byte(&w->relations, 0x94);
    for (int i = 0; i < 4; i++) put_bytes(&w->relations, v[i]);
    w->relations.items++;
}

static void note_script(walk *w, node *at) {
    const struct setup *s = w->s;
    ATTRIBUTES(v, at, "type");
    bytes type = until(v[0], ';');
    if (!type.n || !is_word(strip(type.at, type.at + type.n), "application/ld+json")) return;
    if (w->json_ld.items >= s->most_values) return;
    buffer text = {0};
    plain_text(s, &text, at);
    if (characters(text.at, text.n) <= s->block_chars) {
        put_string(&w->json_ld, text.at, text.n);
        w->json_ld.items++;
    }
    w->json_ld.failed |= text.failed;
    free(text.at);
}

static void note_title(walk *w, node *at) {
    if (w->titled) return;
    buffer text = {0};
    plain_text(w->s, &text, at);
    fold(&w->title, text.at, text.n);
    w->title.failed |= text.failed;
    w->titled = 1;
    free(text.at);
}

static void note_time(walk *w, node *at) {
    const struct setup *s = w->s;
    if (w->times.items >= s->most_values) return;
    ATTRIBUTES(v, at, "datetime");
    buffer text = {0};
    if (v[0].n) put(&text, v[0].at, v[0].n);
    else plain_text(s, &text, at);
    put_string(&w->times, text.at, prefix(text.at, text.n, s->time_chars));
    w->times.failed |= text.failed;
    w->times.items++;
    free(text.at);
}

static void note_place(walk *w, node *at, int kind) { /* frames and areas */
    const struct setup *s = w->s;
    ATTRIBUTES(v, at, "src", "href", "rel");
    bytes place = v[kind == AREA];
    if (place.n)
        add_target(w, at, place, v[2], NONE, kind == AREA ? "area" : s->tag(at) == s->iframe_tag ? "iframe" : "frame");
}

static void note_comment(walk *w, node *at) {
    bytes text = text_of(w->s, at);
    text = strip(text.at, text.at + text.n);
    if (is_word(text, "stopindex")) w->stopped = 1;
    else if (is_word(text, "startindex")) w->stopped = 0;
}

static int enter_element(walk *w, node *at, int kind, uintptr_t tag, int hidden, node *body) {
    const struct setup *s = w->s;
    opened o = {at, NONE, NONE, 0, 0, 0};
    int failed = FINE;
    if (kind == A || (kind >= CELL && kind <= HEADING)) {
        node *before = s->prev(at);
        if (before && before == w->after) before = NULL; /* there is a line feed between */
        if (kind == A) {
            failed = enter_link(w, at, before, &o);
        } else {
            if (before && !is_blank_text(s, before)) line_feed(w);
            node *after = kind >= BLOCK ? s->next(at) : NULL;
            o.after = after && !is_blank_text(s, after);
        }
    }
    switch (kind) {
        case BREAK: line_feed(w); break;
        case SCRIPT: note_script(w, at); break;
        case META: note_meta(w, at); break;
        case LINK: note_relation(w, at); break;
        case TITLE: note_title(w, at); break;
        case TIME: note_time(w, at); break;
        case FRAME: case AREA: note_place(w, at, kind); break;
        case BASE:
            if (!w->base.n) {
                ATTRIBUTES(v, at, "href");
                w->base = v[0];
            }
            break;
        case HTML: {
            ATTRIBUTES(v, at, "lang", "xml:lang");
            w->language = v[0].n ? v[0] : v[1];
            break;
        }
        case BODY: w->in_body = 1; break;
        default: break;
    }
    if (at == body) {
        o.body = 1;
        w->body_start = w->shown.n;
    }
    /* What stands before the body is left alone: its text is not the page's. */
    o.gone = hidden || ((kind == GONE || kind == SCRIPT || kind == TITLE || kind == FRAME) && w->in_body);
    w->gone += o.gone;
    w->links_open += o.link != NONE;
    if (kind == HEADING || kind == MARKED || kind == MARKED_CELL) {
        o.slice = w->slices.items;
        slice *l = grow(&w->slices, sizeof(slice));
        if (l) *l = (slice){w->shown.n, w->shown.n, kind == HEADING ? s->levels[tag] : 0};
    }
    if (o.after || o.gone || o.body || o.link != NONE || o.slice != NONE) {
        opened *kept = grow(&w->opens, sizeof(opened));
        if (kept) *kept = o;
    }
    return failed;
}

static int enter(walk *w, node *at, node *body) {
    const struct setup *s = w->s;
    uintptr_t tag = s->tag(at);
    if (tag == s->text_tag) {
        bytes text = text_of(s, at);
        emit(w, text.at, text.n);
        return FINE;
    }
    int kind = tag < s->n_kinds ? s->kinds[tag] & KIND : NO_KIND;
    if (kind == COMMENT) {
        note_comment(w, at);
        return FINE;
    }
    int hidden = w->hidden && kind != HTML && kind != BODY && tag != s->head_tag && is_hidden(s, at);
    return kind || hidden ? enter_element(w, at, kind, tag, hidden, body) : FINE;
}

static void leave(walk *w, node *at) {
    if (!w->opens.items) return;
    opened o = *ITEM(opened, w->opens, w->opens.items - 1);
    if (o.at != at) return;
    w->opens.items--;
    w->opens.n -= sizeof(opened);
    if (o.slice != NONE) ITEM(slice, w->slices, o.slice)->end = w->shown.n;
    if (o.link != NONE) {
        ITEM(link_, w->links, o.link)->end = w->inner.n;
        w->links_open--;
    }
    if (o.body) w->body_end = w->shown.n;
    w->gone -= o.gone;
    if (o.after) {
        line_feed(w);
        w->after = at;
    }
}

static int broken(const walk *w) {
    return w->inner.failed || w->shown.failed || w->opens.failed || w->links.failed || w->slices.failed || w->targets.failed;
}

static int go(walk *w, node *root, node *body) {
    const struct setup *s = w->s;
    node *at = root;
    for (;;) {
        int failed = enter(w, at, body);
        if (failed) return failed;
        if (broken(w)) return NO_MEMORY;
        node *next = s->first_child(at);
        while (!next) {
            leave(w, at);
            if (at == root) return broken(w) ? NO_MEMORY : FINE;
            next = s->next(at);
            if (!next && !(at = s->parent(at))) return NOT_FOR_ME;
        }
        at = next;
    }
}

/* -- afterwards ---------------------------------------------------------------------------------------- */

static int fold_if_any(buffer *to, bytes text) {
    size_t before = to->n;
    if (text.n) fold(to, text.at, text.n);
    return to->n > before || to->failed;
}

/* The words of a link that shows none: its picture's, its title's. */
static void spoken(walk *w, node *link) {
    const struct setup *s = w->s;
    for (node *at = link; at; at = following(s, link, at))
        if (s->tag(at) == s->image_tag) {
            ATTRIBUTES(picture, at, "alt");
            if (fold_if_any(&w->words, picture[0])) return;
        }
    ATTRIBUTES(v, link, "alt", "aria-label", "title");
    for (int i = 0; i < 3; i++)
        if (fold_if_any(&w->words, v[i])) return;
}

/* A target whose first link shows no words takes those of a later one. */
static int name_the_nameless(walk *w) {
    const struct setup *s = w->s;
    table nameless = {0};
    int kept = 1;
    for (size_t i = 0; kept && i < w->targets.items; i++) {
        target *t = ITEM(target, w->targets, i);
        if (t->link != NONE && !t->n) kept = keep(s, &nameless, t->href, i);
    }
    for (size_t i = 0; nameless.n && i < w->links.items; i++) {
        link_ *l = ITEM(link_, w->links, i);
        entry *e = l->href.n ? find(s, &nameless, l->href) : NULL;
        target *t = e ? ITEM(target, w->targets, e->value) : NULL;
        if (!t || t->n) continue;
        t->words = w->words.n;
        fold(&w->words, w->inner.at + l->start, l->end - l->start);
        t->n = prefix(w->words.at + t->words, w->words.n - t->words, s->anchor_chars);
        w->words.n = t->words + t->n;
    }
    free(nameless.at);
    return kept && !w->words.failed ? FINE : NO_MEMORY;
}

/* Elements may nest, and their texts with them: the budget bounds what is copied. */
static int find_words(walk *w, int64_t *budget) {
    const struct setup *s = w->s;
    int nameless = 0;
    for (size_t i = 0; i < w->targets.items; i++) {
        target *t = ITEM(target, w->targets, i);
        t->words = w->words.n;
        if (t->link != NONE && *budget > 0) {
            link_ *l = ITEM(link_, w->links, t->link);
            fold(&w->words, w->inner.at + l->start, l->end - l->start);
            *budget -= (int64_t)characters(w->words.at + t->words, w->words.n - t->words);
        }
        if (w->words.n == t->words) spoken(w, t->at);
        if (w->words.failed) return NO_MEMORY;
        t->n = prefix(w->words.at + t->words, w->words.n - t->words, s->anchor_chars);
        w->words.n = t->words + t->n;
        nameless |= !t->n;
    }
    return nameless ? name_the_nameless(w) : FINE;
}

static int put_anchors(walk *w, buffer *out) {
    put_size(out, 0xdd, w->targets.items, 4);
    for (size_t i = 0; i < w->targets.items; i++) {
        target *t = ITEM(target, w->targets, i);
        put_byte(out, 0x94);
        put_bytes(out, t->href);
        put_string(out, w->words.at + t->words, t->n);
        buffer rel = {0};
        fold(&rel, t->rel.at, t->rel.n);
        int plain = 1;
        for (size_t k = 0; k < rel.n; k++) {
            plain &= rel.at[k] < 0x80;
            rel.at[k] = lower(rel.at[k]);
        }
        put_string(out, rel.at, rel.n);
        out->failed |= rel.failed;
        free(rel.at);
        if (!plain) return NOT_FOR_ME;
        put_string(out, t->kind, strlen(t->kind));
    }
    return FINE;
}

static void put_headings(walk *w, buffer *out, int64_t *budget) {
    buffer headings = {0}, words = {0};
    for (size_t i = 0; i < w->slices.items; i++) {
        slice *l = ITEM(slice, w->slices, i);
        if (!l->level) continue;
        const byte *text = w->shown.at + l->start;
        size_t n = l->end - l->start;
        *budget -= (int64_t)characters(text, n);
        words.n = 0;
        fold(&words, text, prefix(text, n, w->s->heading_chars));
        if (words.n) {
            put_byte(&headings, 0x92);
            put_byte(&headings, l->level);
            put_string(&headings, words.at, words.n);
            headings.items++;
        }
        if (*budget < 0) break;
    }
    put_section(out, &headings);
    out->failed |= words.failed;
    free(headings.at);
    free(words.at);
}

static void put_marked(walk *w, buffer *out, int64_t *budget) {
    buffer marked = {0}, words = {0};
    for (size_t i = 0; i < w->slices.items; i++) {
        slice *l = ITEM(slice, w->slices, i);
        if (l->level) continue;
        const byte *text = w->shown.at + l->start;
        size_t count = characters(text, l->end - l->start);
        *budget -= (int64_t)count;
        if (count <= w->s->marked_chars) {
            put(&marked, text, l->end - l->start);
            put_byte(&marked, ' ');
        }
        if (*budget < 0) break;
    }
    fold(&words, marked.at, marked.n);
    put_string(out, words.at, words.n);
    out->failed |= words.failed | marked.failed;
    free(marked.at);
    free(words.at);
}

static void put_text(walk *w, buffer *out, int folded) {
    int any = w->body_start != NONE && w->body_end > w->body_start;
    const byte *text = any ? w->shown.at + w->body_start : NULL;
    size_t n = any ? w->body_end - w->body_start : 0;
    buffer lines = {0};
    if (folded && n) fold_lines(&lines, text, n);
    put_string(out, folded ? lines.at : text, folded ? lines.n : n);
    out->failed |= lines.failed;
    free(lines.at);
}

static int write_down(walk *w, size_t n_html, int folded, buffer *out) {
    int64_t budget = (int64_t)(2 * n_html + w->s->spare_chars);
    int failed = find_words(w, &budget);
    if (failed) return failed;
    put_byte(out, 0x90 | SECTIONS);
    put_string(out, w->title.at, w->title.n);
    put_byte(out, 0xc2 | w->titled);
    put_text(w, out, folded);
    put_bytes(out, w->base);
    put_bytes(out, w->language);
    if ((failed = put_anchors(w, out))) return failed;
    put_section(out, &w->relations);
    put_headings(w, out, &budget);
    put_section(out, &w->metas);
    put_marked(w, out, &budget);
    put_section(out, &w->json_ld);
    put_section(out, &w->times);
    return out->failed || w->title.failed ? NO_MEMORY : FINE;
}

/* Walk the tree of *html* below *root*; FINE with a buffer for walk_free in *result*, else nothing to free. */
int walk_page(const struct setup *s, node *root, node *body, const byte *html, size_t n, int folded, struct result *result) {
    if (!is_utf8(html, n)) return NOT_FOR_ME;
    walk w;
    memset(&w, 0, sizeof w);
    w.s = s;
    w.body_start = NONE;
    w.hidden = (byte)may_hide(html, n, s->tag_bytes);
    buffer out = {0};
    int failed = room_for(&w.shown, n / 2) && room_for(&out, n / 2) ? go(&w, root, body) : NO_MEMORY;
    if (!failed && body && w.body_start == NONE) failed = NOT_FOR_ME; /* a body that is no longer in the tree */
    if (!failed) failed = write_down(&w, n, folded, &out);
    buffer *all[] = {&w.inner, &w.shown, &w.opens, &w.links, &w.slices, &w.targets, &w.relations, &w.metas, &w.json_ld,
                     &w.times, &w.words, &w.title};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
    free(w.seen.at);
    if (failed) {
        free(out.at);
        return failed;
    }
    *result = (struct result){out.at, out.n};
    return FINE;
}

void walk_free(byte *at) { free(at); }

/* Find where a text node keeps address and length of its text, which is *text*; returns 0 if nowhere.
 * Only a word that is followed by the right length is taken for an address, and only up to *most* bytes. */
size_t walk_learn(node *at, const byte *text, size_t n, size_t most) {
    for (size_t offset = 0; offset + 2 * sizeof(size_t) <= most; offset += sizeof(size_t)) {
        size_t length;
        const byte *found;
        memcpy(&found, (byte *)at + offset, sizeof found);
        memcpy(&length, (byte *)at + offset + sizeof found, sizeof length);
        if (length == n && (uintptr_t)found > 65536 && !memcmp(found, text, n)) return offset;
    }
    return 0;
}
