"use strict";
/*
 * The page of a flame graph. Three steps, each from the one before: the tree that is shown (threads apart or merged,
 * states or not), its layout for one kind of time (x as shares of the whole), and the picture: only what is in
 * view and wider than a fraction of a pixel is drawn, so a hundred thousand nodes cost no more than the pixels.
 * Names come from the profiled program: they go to the page as text alone (textContent, fillText).
 */
const data = JSON.parse(document.getElementById("data").textContent);
const labels = data.labels, KINDS = data.kinds;
labels.file = labels.file.map(file => data.files[file]);
const PYTHON = 0, SPECIAL = 1, STATE = 2, THREAD = 3;
const ROW = 19, NARROW = 0.35, TEXT_FROM = 26, PAD = 4;
const KIND_TITLES = {
	wall: "Time on the stack, whatever the thread did", cpu: "Time on a CPU",
	gil: "Time holding the GIL", wait: "Time waiting for the GIL",
};
const $ = id => document.getElementById(id);
const stage = $("stage"), canvas = $("canvas"), pen = canvas.getContext("2d");

const shown = {
	kind: Math.max(0, KINDS.indexOf(data.kind)), apart: true, icicle: true, states: data.kind === "wall",
};
let tree, layout, zoom = 0, selected = 0, view = { from: 0, to: 1 }, rows = [], matches = null, moving = 0;
let byKey = false; /* the selected frame is marked once a key has moved it */

/* ---- the tree: columns parent, label, self[kind], total[kind], depth; node 0 is the root */

function buildTree() {
	const all = data.nodes, n = all.parent.length, at = new Int32Array(n);
	const t = { parent: [-1], label: [-1], depth: [0], self: KINDS.map(() => [0]) };
	const known = new Map(), width = labels.name.length + 1;
	for (let i = 1; i < n; i++) {
		const parent = at[i - all.parent[i]], label = all.label[i], type = labels.type[label];
		let node = parent;
		if (!(type === THREAD && !shown.apart) && !(type === STATE && !shown.states)) {
			const key = parent * width + label + 1;
			node = known.get(key);
			if (node === undefined) {
				node = t.parent.length;
				known.set(key, node);
				t.parent.push(parent);
				t.label.push(label);
				t.depth.push(t.depth[parent] + 1);
				for (const self of t.self)
					self.push(0);
			}
		}
		at[i] = node;
		KINDS.forEach((kind, k) => { t.self[k][node] += all[kind][i]; });
	}
	t.total = t.self.map(self => {
		const total = Float64Array.from(self);
		for (let i = total.length; --i > 0;)
			total[t.parent[i]] += total[i];
		return total;
	});
	return t;
}

/* ---- layout: the children of each node, widest first; where each begins and ends, 0 to 1 */

function buildLayout() {
	const n = tree.parent.length, total = tree.total[shown.kind], whole = total[0];
	const from = new Float64Array(n), to = new Float64Array(n);
	const first = new Int32Array(n + 1), order = new Int32Array(n), fill = new Int32Array(n);
	for (let i = 1; i < n; i++)
		first[tree.parent[i] + 1]++;
	for (let i = 0; i < n; i++)
		first[i + 1] += first[i];
	for (let i = 1; i < n; i++)
		order[first[tree.parent[i]] + fill[tree.parent[i]]++] = i;
	to[0] = whole > 0 ? 1 : 0;
	let depth = 0;
	for (let i = 0; i < n; i++) {
		/* parents stand before their children, so from[i] is known */
		const children = order.subarray(first[i], first[i + 1]).sort((a, b) => total[b] - total[a] || a - b);
		let x = from[i];
		for (const child of children) {
			from[child] = x;
			x += whole > 0 ? total[child] / whole : 0;
			to[child] = x;
			if (total[child] > 0 && tree.depth[child] > depth)
				depth = tree.depth[child];
		}
	}
	return { from, to, first, order, total, whole, depth };
}

function childrenOf(node) {
	return layout.order.subarray(layout.first[node], layout.first[node + 1]);
}

/* ---- names */

function nameOf(node) {
	return node ? labels.name[tree.label[node]] : "all";
}

function typeOf(node) {
	return node ? labels.type[tree.label[node]] : THREAD;
}

function placeOf(node) {
	const label = tree.label[node];
	if (!node || !labels.file[label])
		return "";
	return labels.file[label] + (labels.line[label] > 0 ? ":" + labels.line[label] : "");
}

function seconds(us) {
	const s = us / 1e6;
	return s >= 100 ? s.toFixed(0) + " s" : s >= 1 ? s.toFixed(2) + " s" : (us / 1e3).toFixed(us < 1e5 ? 2 : 1) + " ms";
}

function percent(part, whole) {
	return whole > 0 ? (100 * part / whole).toFixed(part / whole < 0.0995 ? 2 : 1) + "%" : "–";
}

/* ---- colours: by file for Python, by meaning for the rest */

function hash(text) {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h = Math.imul(h ^ h >>> 15, 2246822507);
	return (h ^ h >>> 13) >>> 0;
}

let palette = [];

function stateColor(name, dark) {
	if (name.includes("GIL"))
		return dark ? "hsl(355 58% 46%)" : "hsl(355 75% 72%)";
	if (name.includes("native"))
		return dark ? "hsl(212 48% 44%)" : "hsl(212 70% 74%)";
	return dark ? "hsl(220 6% 34%)" : "hsl(220 10% 84%)";
}

function labelColor(label, dark) {
	const type = labels.type[label], name = labels.name[label];
	if (type === THREAD)
		return dark ? "hsl(220 12% 30%)" : "hsl(220 18% 88%)";
	if (type === STATE)
		return stateColor(name, dark);
	if (type === SPECIAL)
		return name === "<GC>" ? (dark ? "hsl(150 34% 36%)" : "hsl(150 44% 70%)") :
			(dark ? "hsl(275 14% 38%)" : "hsl(275 22% 82%)");
	const file = hash(labels.file[label]), own = hash(name + labels.line[label]);
	const hue = 8 + file % 44, near = own % 9 - 4, light = own / 9 % 9 - 4;
	return dark ? `hsl(${hue + near} ${58 + near}% ${38 + light}%)` : `hsl(${hue + near} ${84 + near}% ${70 + light}%)`;
}

function isDark() {
	return document.documentElement.classList.contains("dark");
}

function paintPalette() {
	const dark = isDark(), style = getComputedStyle(document.documentElement);
	palette = labels.name.map((_, label) => labelColor(label, dark));
	palette.root = dark ? "#2b2d33" : "#e9e5de";
	palette.rest = dark ? "#3d3a36" : "#e8ddd0";
	palette.ink = dark ? "#f4f1ec" : "#241f1a";
	palette.ground = style.getPropertyValue("--ground");
	palette.match = style.getPropertyValue("--match");
	palette.accent = style.getPropertyValue("--accent");
}

/* ---- the picture */

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const textWidths = new Map(), above = new Set(); /* above: the frames around the one zoomed into */

function textWidth(text) {
	let w = textWidths.get(text);
	if (w === undefined)
		textWidths.set(text, w = pen.measureText(text).width);
	return w;
}

function fit(text, room) {
	const w = textWidth(text);
	if (w <= room)
		return text;
	const keep = Math.floor(text.length * room / w) - 1;
	return keep < 2 ? "" : text.slice(0, keep) + "…";
}

function rowTop(depth, height) {
	const top = shown.icicle ? depth * ROW : height - (depth + 1) * ROW;
	return top - stage.scrollTop;
}

function drawFrame(node, x, y, w) {
	const label = tree.label[node], match = matches && node && matches[label];
	pen.globalAlpha = (matches && !match) || above.has(node) ? 0.45 : 1;
	pen.fillStyle = match ? palette.match : node ? palette[label] : palette.root;
	pen.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.5), ROW - 1);
	if (w >= TEXT_FROM) {
		pen.fillStyle = match ? "#fff" : palette.ink;
		pen.fillText(fit(nameOf(node), w - 2 * PAD), x + PAD, y + ROW / 2, w - 2 * PAD);
	}
	pen.globalAlpha = 1;
	if (node === selected && byKey && document.activeElement === stage) {
		pen.strokeStyle = palette.accent;
		pen.lineWidth = 2;
		pen.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3);
	}
}

function contentHeight() {
	return Math.max((layout.depth + 1) * ROW, stage.clientHeight);
}

function draw() {
	const width = stage.clientWidth, visible = stage.clientHeight, ratio = devicePixelRatio || 1;
	const height = contentHeight(), scale = width / (view.to - view.from);
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(visible * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(visible * ratio);
		canvas.style.width = width + "px";
		canvas.style.height = visible + "px";
	}
	$("spacer").style.height = height + "px";
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.fillStyle = palette.ground;
	pen.fillRect(0, 0, width, visible);
	pen.font = FONT;
	pen.textBaseline = "middle";
	rows = [];
	above.clear();
	for (let at = tree.parent[zoom]; at >= 0; at = tree.parent[at])
		above.add(at);
	const stack = layout.whole > 0 ? [0] : [];
	while (stack.length) {
		const node = stack.pop(), depth = tree.depth[node], y = rowTop(depth, height);
		const left = Math.max((layout.from[node] - view.from) * scale, 0);
		const right = Math.min((layout.to[node] - view.from) * scale, width);
		const inside = y > -ROW && y < visible;
		if (inside) {
			drawFrame(node, left, y, right - left);
			(rows[depth] = rows[depth] || []).push({ left, right, node });
		}
		if (shown.icicle ? y + ROW > visible : y < 0)
			continue; /* what is below is out of sight */
		for (const child of childrenOf(node)) {
			const from = (layout.from[child] - view.from) * scale, to = (layout.to[child] - view.from) * scale;
			if (to - from < NARROW) {
				drawRest(node, Math.max(from, 0), scale, rowTop(depth + 1, height));
				break; /* the others are narrower still */
			}
			if (to > 0 && from < width)
				stack.push(child);
		}
	}
}

/* The children too narrow to be drawn, as one. */
function drawRest(node, from, scale, y) {
	const own = layout.total[node] - tree.self[shown.kind][node];
	const to = (layout.from[node] + own / layout.whole - view.from) * scale;
	if (to - from >= 1) {
		pen.fillStyle = palette.rest;
		pen.fillRect(from, y, to - from, ROW - 1);
	}
}

let due = false;

function redraw() {
	if (due)
		return;
	due = true;
	requestAnimationFrame(() => { due = false; draw(); });
}

/* ---- zoom */

function zoomTo(node) {
	const target = { from: layout.from[node], to: layout.to[node] }, start = { ...view };
	if (!(target.to > target.from))
		return;
	zoom = selected = node;
	showTrail();
	showDetail(node);
	cancelAnimationFrame(moving);
	if (matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) {
		view = target;
		reveal(node);
		draw();
		return;
	}
	const began = performance.now();
	const step = now => {
		const t = Math.min(Math.max((now - began) / 160, 0), 1), e = 1 - (1 - t) ** 3;
		view = { from: start.from + (target.from - start.from) * e, to: start.to + (target.to - start.to) * e };
		draw();
		if (t < 1)
			moving = requestAnimationFrame(step);
	};
	reveal(node);
	moving = requestAnimationFrame(step);
}

function reveal(node) {
	const top = shown.icicle ? tree.depth[node] * ROW : contentHeight() - (tree.depth[node] + 1) * ROW;
	if (top < stage.scrollTop)
		stage.scrollTop = top - ROW;
	else if (top + ROW > stage.scrollTop + stage.clientHeight)
		stage.scrollTop = top + 2 * ROW - stage.clientHeight;
}

function showTrail() {
	const path = [];
	for (let at = zoom; at > 0; at = tree.parent[at])
		path.unshift(at);
	const far = path.length > 6 ? path.slice(-6) : path;
	const items = path.length ? [0, ...far] : [];
	$("trail").replaceChildren(...items.map((node, i) => {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = (i ? "› " : "") + (i === 1 && far.length < path.length ? "… › " : "") + nameOf(node);
		button.onclick = () => zoomTo(node);
		return button;
	}));
}

/* ---- details */

function element(tag, text, className) {
	const e = document.createElement(tag);
	if (text !== undefined)
		e.textContent = text;
	if (className)
		e.className = className;
	return e;
}

function showDetail(node) {
	const k = shown.kind, total = tree.total[k][node], self = tree.self[k][node];
	const line = element("div");
	line.append(element("b", nameOf(node)), " ", element("span", placeOf(node), "place"));
	const numbers = element("div", `${KINDS[k]}: ${seconds(total)}, ${percent(total, layout.whole)} of all` +
		(zoom && node !== zoom ? `, ${percent(total, layout.total[zoom])} of ${nameOf(zoom)}` : "") +
		`, ${percent(total, data.seconds * 1e6)} of one thread's time; self ${seconds(self)}`);
	$("detail").replaceChildren(line, numbers);
}

function tipTable(node) {
	const table = element("table"), head = element("tr");
	head.append(element("th", ""), element("th", "total"), element("th", ""), element("th", "self"));
	table.append(head);
	KINDS.forEach((kind, k) => {
		const row = element("tr", undefined, k === shown.kind ? "shown" : "");
		row.append(element("td", kind), element("td", seconds(tree.total[k][node])),
			element("td", percent(tree.total[k][node], tree.total[k][0])),
			element("td", seconds(tree.self[k][node])));
		table.append(row);
	});
	return table;
}

function showTip(node, x, y) {
	const tip = $("tip");
	tip.replaceChildren(element("b", nameOf(node)), element("div", placeOf(node), "place"), tipTable(node));
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
	tip.style.top = (y + 18 + box.height > innerHeight - 8 ? Math.max(4, y - box.height - 12) : y + 18) + "px";
}

function nodeAt(event) {
	const box = canvas.getBoundingClientRect(), y = event.clientY - box.top + stage.scrollTop;
	const x = event.clientX - box.left;
	const depth = Math.floor((shown.icicle ? y : contentHeight() - y) / ROW);
	const hit = (rows[depth] || []).find(r => x >= r.left && x < r.right);
	return hit ? hit.node : -1;
}

/* ---- search */

function search() {
	const text = $("search").value.trim().toLowerCase();
	matches = text ? labels.name.map((name, label) => labels.type[label] !== THREAD &&
		(name.toLowerCase().includes(text) || labels.file[label].toLowerCase().includes(text))) : null;
	$("matched").textContent = "";
	if (matches) {
		/* a match below another one is part of it */
		const inside = new Uint8Array(tree.parent.length);
		let sum = 0;
		for (let i = 1; i < inside.length; i++) {
			inside[i] = inside[tree.parent[i]];
			if (!inside[i] && matches[tree.label[i]]) {
				inside[i] = 1;
				sum += layout.total[i];
			}
		}
		$("matched").textContent = percent(sum, layout.whole) + " matched";
	}
	redraw();
}

/* ---- keys */

function move(node) {
	if (node < 0 || layout.total[node] <= 0)
		return;
	byKey = true;
	if (layout.to[node] <= view.from || layout.from[node] >= view.to)
		zoomTo(tree.parent[node]);
	selected = node;
	reveal(node);
	showDetail(node);
	redraw();
}

function sibling(step) {
	if (!selected)
		return;
	const all = childrenOf(tree.parent[selected]), to = all.indexOf(selected) + step;
	if (to >= 0 && to < all.length)
		move(all[to]);
}

function deeper() {
	const all = childrenOf(selected);
	if (all.length)
		move(all[0]);
}

const shallower = () => move(tree.parent[selected]);
const zoomOut = () => zoomTo(zoom ? tree.parent[zoom] : 0);
const KEYS = [
	["ArrowUp", "↑", "the frame above", () => shown.icicle ? shallower() : deeper()],
	["ArrowDown", "↓", "the frame below", () => shown.icicle ? deeper() : shallower()],
	["ArrowLeft", "←", "the wider one beside it", () => sibling(-1)],
	["ArrowRight", "→", "the narrower one beside it", () => sibling(1)],
	["Enter", "Enter", "zoom into the frame (or click it)", () => zoomTo(selected)],
	["Backspace", "Backspace", "zoom out by one", zoomOut],
	["Escape", "Esc", "clear the search, then show all", () => {
		if ($("search").value) { $("search").value = ""; search(); } else zoomTo(0);
	}],
	["/", "/", "search functions and files", () => $("search").focus()],
	...KINDS.map((kind, k) => [String(k + 1), String(k + 1), kind + ": " + KIND_TITLES[kind][0].toLowerCase() + KIND_TITLES[kind].slice(1),
		() => change({ kind: k })]),
	["t", "t", "threads apart or merged", () => change({ apart: !shown.apart })],
	["f", "f", "flame (root below) or icicle (root above)", () => change({ icicle: !shown.icicle })],
	["s", "s", "states: what the thread did, at the end of each stack", () => change({ states: !shown.states })],
	["d", "d", "light or dark", () => setDark(!isDark())],
	["?", "?", "these keys", () => $("keys").showModal()],
];

function onKey(event) {
	const typing = event.target.tagName === "INPUT";
	if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open)
		return;
	if (typing && event.key !== "Escape" && event.key !== "Enter")
		return;
	if (event.target.tagName === "BUTTON" && event.key === "Enter")
		return;
	const key = KEYS.find(k => k[0] === event.key);
	if (typing || key)
		event.preventDefault();
	if (typing && event.key === "Enter")
		stage.focus();
	else if (key)
		key[3]();
}

/* ---- controls */

function choice(id, options) {
	$(id).replaceChildren(...options.map(([text, title, isOn, act]) => {
		const button = element("button", text);
		button.type = "button";
		button.title = title;
		button.onclick = act;
		button.setAttribute("aria-pressed", isOn());
		return button;
	}));
}

function showControls() {
	choice("kinds", KINDS.map((kind, k) => [kind === "wait" ? "GIL wait" : kind === "gil" ? "GIL" : kind === "cpu" ? "CPU" : kind,
		`${KIND_TITLES[kind]} (${k + 1})`, () => shown.kind === k, () => change({ kind: k })]));
	choice("threads", [["threads apart", "One tree a thread (t)", () => shown.apart, () => change({ apart: true })],
		["merged", "One tree for all threads (t)", () => !shown.apart, () => change({ apart: false })]]);
	choice("direction", [["icicle", "Root above (f)", () => shown.icicle, () => change({ icicle: true })],
		["flame", "Root below (f)", () => !shown.icicle, () => change({ icicle: false })]]);
	$("states").setAttribute("aria-pressed", shown.states);
}

/* The node of the new tree that has the path of a node of the old one, as far as it goes. */
function samePath(old, node) {
	const path = [];
	for (let at = node; at > 0; at = old.parent[at])
		if (!(labels.type[old.label[at]] === THREAD && !shown.apart))
			path.unshift(old.label[at]);
	let at = 0;
	for (const label of path) {
		const next = Array.from(childrenOf(at)).find(child => tree.label[child] === label);
		if (next === undefined)
			break;
		at = next;
	}
	return at;
}

function change(what) {
	const rebuilt = "apart" in what || "states" in what, old = tree;
	Object.assign(shown, what);
	if (rebuilt)
		tree = buildTree();
	layout = buildLayout();
	if (rebuilt)
		zoom = samePath(old, zoom);
	while (zoom && layout.total[zoom] <= 0)
		zoom = tree.parent[zoom];
	selected = zoom;
	view = { from: layout.from[zoom], to: layout.to[zoom] || 1 };
	if ("icicle" in what)
		stage.scrollTop = shown.icicle ? 0 : contentHeight();
	$("nothing").hidden = layout.whole > 0;
	$("nothing").textContent = `No ${KINDS[shown.kind]} time was seen.`;
	showControls();
	showTrail();
	showDetail(zoom);
	search();
	draw();
	if (!shown.icicle && "icicle" in what)
		stage.scrollTop = contentHeight();
}

function setDark(dark) {
	document.documentElement.classList.toggle("dark", dark);
	paintPalette();
	redraw();
}

function showFacts() {
	const when = new Date(data.start_ms), count = n => n.toLocaleString("en");
	document.title = `${data.product} – flame graph`;
	$("product").textContent = data.command || data.product;
	$("facts").textContent = [`CPython ${data.python}`, `pid ${data.pid}`,
		`${data.seconds.toFixed(data.seconds < 100 ? 1 : 0)} s from ${when.toLocaleString()}`,
		`${count(data.samples)} thread-samples`, data.rate_hz ? `${count(data.rate_hz)} Hz asked` : "flat out",
		`pytop ${data.pytop}`].join("  ·  ");
	$("keytable").replaceChildren(...KEYS.map(([, cap, what]) => {
		const row = element("tr"), cell = element("td");
		cell.append(element("kbd", cap));
		row.append(cell, element("td", what));
		return row;
	}));
}

const darkQuery = matchMedia("(prefers-color-scheme: dark)");
darkQuery.addEventListener("change", () => setDark(darkQuery.matches));
document.addEventListener("keydown", onKey);
stage.addEventListener("scroll", redraw);
stage.addEventListener("focus", redraw);
stage.addEventListener("blur", redraw);
canvas.addEventListener("mousemove", event => {
	const node = nodeAt(event);
	$("tip").hidden = node < 0;
	if (node >= 0)
		showTip(node, event.clientX, event.clientY);
});
canvas.addEventListener("mouseleave", () => { $("tip").hidden = true; });
canvas.addEventListener("click", event => {
	const node = nodeAt(event);
	if (node >= 0)
		zoomTo(node);
});
new ResizeObserver(redraw).observe(stage);
$("search").addEventListener("input", search);
$("states").onclick = () => change({ states: !shown.states });
$("dark").onclick = () => setDark(!isDark());
$("help").onclick = () => $("keys").showModal();
tree = buildTree();
showFacts();
setDark(darkQuery.matches);
change({});
stage.focus({ preventScroll: true });
