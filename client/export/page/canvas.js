"use strict";
/*
 * Draws a tree on a canvas as large as what is seen of it. `view` has what is shown: root, top (the
 * node with the full width), focus, icicle, wide, matches (of a node), places (what was drawn).
 */
const ROW = 18, NARROWEST = 0.5, LETTER = 24; /* pixels; a label needs LETTER */
const dark = matchMedia("(prefers-color-scheme: dark)");

const hash = text => {
	let h = 0;
	for (let i = 0; i < text.length; i++)
		h = (h * 31 + text.charCodeAt(i)) >>> 0;
	return h;
};

const grown = (node, root) => node.total[NEW] * root.total[OLD] > node.total[OLD] * root.total[NEW];

/* Red grew, blue shrank; what is within noise has hardly a colour. */
const diff_color = (node, root, light) => {
	if (!node.moved)
		return "hsl(40,12%," + (light + 8) + "%)";
	return grown(node, root) ? "hsl(2,75%," + light + "%)" : "hsl(215,70%," + light + "%)";
};

const color = (node, view) => {
	const h = hash(node.object + node.name), light = dark.matches ? 32 : 74;
	if (view.matches(node))
		return dark.matches ? "#a338b8" : "#e79bf2";
	if (is_diff)
		return diff_color(node, view.root, light);
	if (node.kind === KIND.UNKNOWN)
		return "hsl(0,0%," + (light + h % 7) + "%)";
	if (node.kind === KIND.KERNEL)
		return "hsl(" + (205 + h % 20) + ",45%," + (light + h % 7) + "%)";
	return "hsl(" + (18 + h % 34) + ",70%," + (light + h % 7 - 4) + "%)";
};

/* A sign beside the colour. */
const label_of = (node, view) =>
	(is_diff && node.moved ? (grown(node, view.root) ? "▲ " : "▼ ") : "") + node.name;

/* All rectangles, whether seen or not. */
const lay_out = (view, width) => {
	const above = [], rest = [];
	for (let up = view.top.parent; up; up = up.parent)
		above.unshift(up);
	view.places = above.map((node, level) => ({ node, x: 0, level, width, is_above: true }));
	view.levels = above.length;
	rest.push({ node: view.top, x: 0, level: above.length, width });
	while (rest.length > 0) {
		const place = rest.pop(), all = place.node.total[view.wide];
		let x = place.x;
		view.places.push(place);
		view.levels = Math.max(view.levels, place.level + 1);
		for (const node of callees(place.node, view.wide)) {
			const part = place.width * node.total[view.wide] / all;
			if (part >= NARROWEST)
				rest.push({ node, x, level: place.level + 1, width: part });
			x += part;
		}
	}
};

const top_of = (place, view) => (view.icicle ? place.level : view.levels - 1 - place.level) * ROW;

/* Kernel frames are hatched, so that nobody needs the colour. */
const hatch = (pen, x, y, width) => {
	pen.save();
	pen.beginPath();
	pen.rect(x, y, width, ROW - 1);
	pen.clip();
	pen.strokeStyle = dark.matches ? "#ffffff30" : "#00000028";
	pen.lineWidth = 1;
	pen.beginPath();
	for (let at = x - ROW; at < x + width; at += 6) {
		pen.moveTo(at, y + ROW);
		pen.lineTo(at + ROW, y);
	}
	pen.stroke();
	pen.restore();
};

const draw_label = (pen, text, x, y, width) => {
	const room = width - 6, wide = pen.measureText(text).width;
	let letters = wide <= room ? text.length : Math.floor(text.length * room / wide) - 1, cut = text;
	if (letters < 2)
		return;
	for (; letters < text.length; letters--) { /* the first letters may be the widest */
		cut = text.slice(0, letters) + "…";
		if (letters <= 2 || pen.measureText(cut).width <= room)
			break;
	}
	pen.fillStyle = dark.matches ? "#fff" : "#111";
	pen.fillText(cut, x + 3, y + 13);
};

const draw_place = (pen, place, y, view) => {
	const { node, x, width } = place, inner = Math.max(width - 1, NARROWEST);
	pen.globalAlpha = place.is_above ? 0.5 : 1;
	pen.fillStyle = color(node, view);
	pen.fillRect(x, y, inner, ROW - 1);
	if (node.kind === KIND.KERNEL && width > 4)
		hatch(pen, x, y, inner);
	pen.globalAlpha = 1;
	if (node === view.focus) {
		pen.strokeStyle = dark.matches ? "#fff" : "#000";
		pen.lineWidth = 2;
		pen.strokeRect(x + 1, y + 1, Math.max(inner - 2, 1), ROW - 3);
	}
	if (width > LETTER)
		draw_label(pen, label_of(node, view), x, y, inner);
};

/* Draws the part that `box` shows at its scroll position. */
const draw = (canvas, box, view) => {
	const pen = canvas.getContext("2d"), scale = devicePixelRatio || 1;
	const width = box.clientWidth, height = box.clientHeight;
	canvas.width = width * scale;
	canvas.height = height * scale;
	canvas.style.height = height + "px";
	canvas.style.marginBottom = -height + "px"; /* what is below it gives the box its height */
	pen.setTransform(scale, 0, 0, scale, 0, 0);
	pen.font = "12px system-ui, sans-serif";
	for (const place of view.places) {
		const y = top_of(place, view) - box.scrollTop;
		if (y > -ROW && y < height)
			draw_place(pen, place, y, view);
	}
};

/* The node at a point of the whole graph, or undefined. */
const node_at = (view, x, y) => {
	const place = view.places.find(each => x >= each.x && x < each.x + each.width &&
		y >= top_of(each, view) && y < top_of(each, view) + ROW);
	return place && place.node;
};
