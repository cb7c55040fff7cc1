"use strict";
/* What the reader does, and what the page says. */
const $ = id => document.getElementById(id);
const box = $("graph"), canvas = $("canvas"), tip = $("tip"), about = $("about");
const view = { root: null, top: null, focus: null, icicle: false, wide: NEW, matches: () => false,
	places: [], levels: 0, width: 0, height: 0 };

const say = (element, node) => {
	const name = document.createElement("b");
	name.textContent = node.name;
	element.replaceChildren(name);
	for (const line of describe(node, view.root))
		element.append(document.createElement("br"), line);
};

/* After a change of what is shown: everything is laid out anew. */
const show = () => {
	view.width = box.clientWidth;
	lay_out(view, view.width);
	$("space").style.height = view.levels * ROW + "px";
	view.height = box.clientHeight;
	draw(canvas, box, view);
	say(about, view.focus);
};

/* Scrolls until the focus is seen. */
const reveal = () => {
	const place = view.places.find(each => each.node === view.focus);
	if (!place)
		return;
	const y = top_of(place, view);
	box.scrollTop = Math.min(y, Math.max(box.scrollTop, y + 2 * ROW - box.clientHeight));
};

const focus = node => {
	view.focus = node;
	reveal();
	draw(canvas, box, view);
	say(about, node);
};

const zoom = node => {
	view.top = node.total[view.wide] > 0 ? node : view.root;
	view.focus = view.top;
	show();
	box.scrollTop = view.icicle ? 0 : box.scrollHeight;
};

const look_for = text => {
	const words = text.trim().toLowerCase();
	view.matches = node => words !== "" && node.name.toLowerCase().includes(words);
	const share = count_matches(view.root, view.matches, view.wide) / view.root.total[view.wide];
	$("found").textContent = words === "" ? "" : percent(share) + " matched";
	draw(canvas, box, view);
};

const start = () => {
	view.root = build_tree($("by").value).root;
	zoom(view.root);
	look_for($("search").value);
};

/* Those that are drawn: what is too narrow can be reached by zooming. */
const is_drawn = node => view.places.some(place => place.node === node);

const beside = (node, step) => {
	const list = node.parent ? callees(node.parent, view.wide) : [node];
	const next = list[list.indexOf(node) + step];
	return next && is_drawn(next) ? next : node;
};

const inward = node => {
	const next = callees(node, view.wide)[0];
	return next && is_drawn(next) ? next : node;
};

const outward = node => node.parent || node;

const act_on = {
	ArrowLeft: () => focus(beside(view.focus, -1)),
	ArrowRight: () => focus(beside(view.focus, 1)),
	ArrowUp: () => focus((view.icicle ? outward : inward)(view.focus)),
	ArrowDown: () => focus((view.icicle ? inward : outward)(view.focus)),
	Enter: () => zoom(view.focus),
	Escape: () => zoom(view.root),
	Home: () => focus(view.top),
};

const point = event => {
	const rect = canvas.getBoundingClientRect();
	return node_at(view, event.clientX - rect.left, event.clientY - rect.top + box.scrollTop);
};

const show_tip = event => {
	const node = point(event);
	tip.hidden = !node;
	if (!node)
		return;
	say(tip, node);
	const left = Math.min(event.clientX + 12,
		document.documentElement.clientWidth - tip.offsetWidth - 4);
	tip.style.left = Math.max(0, left) + "px";
	const top = event.clientY + tip.offsetHeight + 24 > innerHeight ?
		event.clientY - tip.offsetHeight - 8 : event.clientY + 16;
	tip.style.top = Math.max(0, top) + "px";
};

const flip = () => {
	view.icicle = !view.icicle;
	$("flip").setAttribute("aria-pressed", String(view.icicle));
	zoom(view.top);
};

const choose_side = () => {
	view.wide = Number($("wide").value);
	zoom(view.root);
	look_for($("search").value);
};

canvas.addEventListener("mousemove", show_tip);
canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
canvas.addEventListener("click", event => {
	const node = point(event);
	tip.hidden = true;
	if (node)
		zoom(node);
});
box.addEventListener("scroll", () => draw(canvas, box, view));
box.addEventListener("keydown", event => {
	const act = act_on[event.key];
	if (!act || event.ctrlKey || event.metaKey || event.altKey)
		return;
	event.preventDefault();
	act();
});
document.addEventListener("keydown", event => {
	if (event.key !== "/" || event.target === $("search"))
		return;
	event.preventDefault();
	$("search").focus();
});
$("search").addEventListener("input", () => look_for($("search").value));
$("search").addEventListener("keydown", event => {
	if (event.key === "Enter")
		box.focus();
});
$("by").addEventListener("change", start);
$("wide").addEventListener("change", choose_side);
$("all").addEventListener("click", () => zoom(view.root));
$("flip").addEventListener("click", flip);
dark.addEventListener("change", show);
/* A scrollbar of the page changes the width, too. In a frame of its own: show() changes the height. */
new ResizeObserver(() => requestAnimationFrame(() => {
	if (box.clientWidth !== view.width || box.clientHeight !== view.height)
		show();
})).observe(box);

for (const part of document.querySelectorAll("[data-script]"))
	part.hidden = part.dataset.script === "diff" && !is_diff;
$("plain").open = false;
start();
document.body.dataset.ready = "true";
