/* What a walk has found so far, and the walk: every node is entered and left once. */
#ifndef WALK_FOUND_H
#define WALK_FOUND_H

#include "table.h"

#define NONE SIZE_MAX

typedef struct { node *at; size_t link, slice; byte after, gone, body; } opened;
typedef struct { bytes href; size_t start, end; } link_; /* a slice of inner */
typedef struct { size_t start, end; byte level; } slice; /* of shown; level 0: marked words */
typedef struct { node *at; bytes href, rel; size_t link; const char *kind; size_t words, n; } target;

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

#endif
