/*
 * flamegraph_page: the parts of the page, made from flamegraph.html, .css and .js when pytop is
 * built. In the HTML a line "@css@", "@js@" or "@data@" stands for the other parts.
 */
#ifndef PYTOP_EXPORT_FLAMEGRAPH_PAGE_H
#define PYTOP_EXPORT_FLAMEGRAPH_PAGE_H

extern const char flamegraph_html[];
extern const char flamegraph_css[];
extern const char flamegraph_js[];

#endif
