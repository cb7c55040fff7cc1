"use strict";
/*
 * The stacks of the page as a tree. A node has a count for each side: one, or the old and the new
 * one of a difference. Widths are those of the side `wide`.
 */
const data = JSON.parse(document.getElementById("data").textContent);
const KIND = { USER: 0, KERNEL: 1, UNKNOWN: 2 };
const OLD = 0, NEW = data.sides.length - 1, is_diff = NEW > OLD;

/* As branchctl diff has them without parts of time: client/stats/significance.h. */
const EXCESS = 2, FALSE_SHARE = 0.01, Z95 = 1.959964;

const zeroes = () => data.sides.map(() => 0);

const new_node = (parent, [name, object, line, kind]) => ({
	parent, name, object, line, kind,
	self: zeroes(), total: zeroes(), variance: zeroes(), children: new Map(), moved: false,
});

/* For nodes that are no functions. */
const named = name => [name, "", "", KIND.UNKNOWN];

const find_child = (tree, parent, frame) => {
	const [name, object] = frame, key = name + "\0" + object;
	let node = parent.children.get(key);
	if (!node) {
		node = new_node(parent, frame);
		parent.children.set(key, node);
		tree.nodes.push(node);
	}
	return node;
};

/* What stands between the root and the stacks of a process. Process ids differ between sides. */
const find_top = (tree, by, side, process) => {
	const [name, pid, unit] = side.processes[process] || ["[no process]", null, null];
	if (by === "unit")
		return find_child(tree, tree.root, named(unit || "[no unit]"));
	if (by === "process")
		return find_child(tree, tree.root,
			named(pid === null || is_diff ? name : name + " (" + pid + ")"));
	return tree.root;
};

/* The upper tail of the normal distribution; Abramowitz and Stegun, 7.1.26. */
const tail = z => {
	const t = 1 / (1 + 0.3275911 * z / Math.SQRT2);
	const factors = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
	return factors.reduce((sum, factor) => (sum + factor) * t, 0) * Math.exp(-z * z / 2) / 2;
};

/*
 * The samples of a side, as so many independent ones that the node's share varies as much: fewer
 * where its samples are estimated. A count of 0 varies as the average does (profile_row_unit()).
 */
const effective = (node, root, side) => {
	const { total, variance } = node.total[side] > 0 ? node : root;
	return root.total[side] / EXCESS / (data.sides[side].unit + variance[side] / total[side]);
};

/* How likely a difference at least as large is if nothing has moved: a test of two shares. */
const p_value = (node, root) => {
	const n = data.sides.map((_, side) => effective(node, root, side));
	const shares = node.total.map((count, side) => count / root.total[side]);
	const both = (node.total[OLD] + node.total[NEW]) / (root.total[OLD] + root.total[NEW]);
	const variance = both * (1 - both) * (1 / n[OLD] + 1 / n[NEW]);
	return variance > 0 ? 2 * tail(Math.abs(shares[NEW] - shares[OLD]) / Math.sqrt(variance)) : 1;
};

/* Benjamini and Hochberg, J. R. Statist. Soc. B 57, 1995. */
const mark_moved = tree => {
	const tests = tree.nodes.map(node => [p_value(node, tree.root), node]).sort((a, b) => a[0] - b[0]);
	let last = tests.length - 1;
	while (last >= 0 && tests[last][0] > FALSE_SHARE * (last + 1) / tests.length)
		last--;
	for (const [, node] of tests.slice(0, last + 1))
		node.moved = true;
};

/* `by`: what stands on top: "none", "process" or "unit". */
const build_tree = by => {
	const root = new_node(null, named("all")), tree = { root, nodes: [root] };
	data.sides.forEach((side, number) => {
		const nodes = [];
		for (const [parent, frame, process, self, variance = 0] of side.rows) {
			const above = parent === null ? find_top(tree, by, side, process) : nodes[parent];
			const node = find_child(tree, above, side.frames[frame]);
			node.self[number] += self;
			node.variance[number] += variance;
			nodes.push(node);
		}
	});
	for (let i = tree.nodes.length - 1; i >= 0; i--) { /* callees come after their callers */
		const { self, total, variance, parent } = tree.nodes[i];
		self.forEach((count, side) => {
			total[side] += count;
			if (parent) {
				parent.total[side] += total[side];
				parent.variance[side] += variance[side];
			}
		});
	}
	if (is_diff)
		mark_moved(tree);
	return tree;
};

/* Callees, widest first. */
const callees = (node, wide) => {
	if (!node.list || node.wide !== wide) {
		node.wide = wide;
		node.list = [...node.children.values()].filter(child => child.total[wide] > 0).sort((a, b) =>
			b.total[wide] - a.total[wide] || (a.name < b.name ? -1 : 1));
	}
	return node.list;
};

/* The samples below the outermost nodes that match. */
const count_matches = (root, matches, side) => {
	const rest = [root]; /* no recursion: stacks may be thousands of calls deep */
	let sum = 0;
	while (rest.length > 0) {
		const node = rest.pop();
		if (matches(node)) {
			sum += node.total[side];
			continue;
		}
		for (const child of node.children.values())
			rest.push(child);
	}
	return sum;
};

const percent = share => (100 * share).toFixed(2) + " %";

/* Wilson's interval of 95 %. */
const interval = (node, root, side) => {
	const n = effective(node, root, side), p = node.total[side] / root.total[side], rest = 1 + Z95 * Z95 / n;
	const middle = (p + Z95 * Z95 / (2 * n)) / rest;
	const half = Z95 / rest * Math.sqrt(p * (1 - p) / n + Z95 * Z95 / (4 * n * n));
	return (100 * (middle - half)).toFixed(2) + " to " + percent(middle + half);
};

const plural = n => n.toLocaleString("en") + (n === 1 ? " sample" : " samples");

const describe_side = (node, root, side) => {
	const all = root.total[side];
	if (node === root)
		return plural(all);
	return "total " + plural(node.total[side]) + ", " + percent(node.total[side] / all) + " (" +
		interval(node, root, side) + "); self " + percent(node.self[side] / all);
};

/* What is said of a node below its name, in lines. */
const describe = (node, root) => {
	const lines = [], [old_share, new_share] =
		[OLD, NEW].map(side => node.total[side] / root.total[side]);
	const is_module = node.kind === KIND.KERNEL && node.object !== "[kernel]";
	const where = [node.object, is_module ? "kernel" : "", node.line].filter(Boolean);
	if (where.length > 0)
		lines.push(where.join(", "));
	if (!is_diff)
		return [...lines, describe_side(node, root, NEW)];
	lines.push("old: " + describe_side(node, root, OLD), "new: " + describe_side(node, root, NEW));
	if (node !== root)
		lines.push((new_share < old_share ? "−" : "+") +
			(100 * Math.abs(new_share - old_share)).toFixed(2) + " points" +
			(node.moved ? "" : ", within noise"));
	return lines;
};
